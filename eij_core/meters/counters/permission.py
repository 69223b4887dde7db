"""The message for a user who may not read the counter: facts, remedies and the risk."""

from __future__ import annotations

HEAD = """\
RAPL is present but {path} is readable by root only
(since the PLATYPUS fix, CVE-2020-8694)."""

ESTIMATE = """\
 Energy will NOT be measured; running on an ESTIMATE
({watts:g} W per busy core, factor {factor:g})."""

REMEDIES = """\
 To measure, ask the administrator for ONE of:
 1. a group (survives reboot):  groupadd -f rapl; usermod -aG rapl $USER; then in
    /etc/udev/rules.d/70-rapl.rules:
    SUBSYSTEM=="powercap", KERNEL=="intel-rapl*", \
RUN+="/bin/chgrp rapl /sys/%p/energy_uj", RUN+="/bin/chmod g+r /sys/%p/energy_uj"
    udevadm control --reload-rules; udevadm trigger --subsystem-match=powercap; log in again
 2. a service only:  AmbientCapabilities=CAP_PERFMON in its systemd unit, and --meter perf   \
(Linux >= 5.8)
 3. until reboot:  chgrp rapl .../energy_uj; chmod g+r .../energy_uj
Security: these counters can leak secrets of other programs. Do not chmod a+r on a shared machine,
do not setcap the system python, do not lower perf_event_paranoid for everyone."""


def permission_text(path: str, estimate: tuple[float, float] | None = None) -> str:
    """Return the message; with `estimate` (Watts, factor) it announces the estimate.

    Examples
    --------
    >>> print(permission_text("energy_uj").splitlines()[0])
    RAPL is present but energy_uj is readable by root only
    """
    text = HEAD.format(path=path)
    if estimate is not None:
        text += ESTIMATE.format(watts=estimate[0], factor=estimate[1])
    return text + REMEDIES

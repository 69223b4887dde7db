"""The real pyRAPL: on a faked file system, and end to end on a fake /sys in a mount namespace."""

import gc
import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from eij_core.errors import MeterPermissionError, MeterUnavailable
from eij_core.meters.counters import pyrapl as module
from eij_core.meters.counters.powercap import permission_text
from eij_core.meters.counters.pyrapl import PyRaplCounter
from eij_core.registry import meters
from tests.meters.virtual import domains_uj

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(sys.platform != "linux", reason="pyRAPL is for Linux"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # the files that it never closes
]

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ZONE = "/sys/class/powercap/intel-rapl/intel-rapl:0"
LINK = "/sys/class/powercap/intel-rapl:0"


@pytest.fixture
def sysfs(fs):
    """A socket with DRAM, as pyRAPL looks for it, and as powercap lists it."""
    fs.create_file("/sys/devices/system/cpu/present", contents="0-1\n")
    for cpu in (0, 1):
        path = f"/sys/devices/system/cpu/cpu{cpu}/topology/physical_package_id"
        fs.create_file(path, contents="0\n")
    for folder, name, energy in ((ZONE, "package-0", 1000), (f"{ZONE}/intel-rapl:0:0", "dram", 7)):
        fs.create_file(f"{folder}/name", contents=f"{name}\n")
        fs.create_file(f"{folder}/energy_uj", contents=f"{energy}\n")
        fs.create_file(f"{folder}/max_energy_range_uj", contents="9999\n")
    fs.create_symlink(LINK, ZONE)
    fs.create_symlink(f"{LINK}:0", f"{ZONE}/intel-rapl:0:0")
    fs.create_file("/proc/cpuinfo", contents="flags : fpu\n")
    yield fs
    gc.collect()  # those files again, while their warnings are ignored


def put(package, dram=None):
    Path(f"{ZONE}/energy_uj").write_text(f"{package}\n")
    if dram is not None:
        Path(f"{ZONE}/intel-rapl:0:0/energy_uj").write_text(f"{dram}\n")


def calm(counter):
    """Let small ranges wrap: at 1000 W they would be ambiguous within microseconds."""
    for register in counter.registers:
        register.domain = register.domain._replace(most_watts=1e-9)
    return counter


def test_exact_differences_and_wraps(sysfs):
    counter = calm(PyRaplCounter(alive_seconds=0))
    assert counter.info.domains == ("package-0", "package-0/dram")
    assert counter.info.provenance == "measured"
    assert counter.read_uj() == 0
    put(1500, 10)
    assert domains_uj(counter) == {"package-0": 500, "package-0/dram": 3}
    put(200, 9)  # both fall: the ranges are known, so they wrapped
    assert domains_uj(counter) == {"package-0": 500 + 8700, "package-0/dram": 3 + 9999}
    assert counter.breaks == 0
    counter.close()


def test_bare_pyrapl_does_worse(sysfs):
    """The defects that the wrapper is for: should they go, so may the wrapper."""
    with module._quiet():
        import pyRAPL

        pyRAPL.setup()
        measurement = pyRAPL.Measurement("bare")
        measurement.begin()
        measurement.end()
        assert measurement.result.pkg == [0.0]  # no tick: exactly 0
        measurement.begin()
        put(200)
        measurement.end()
        assert measurement.result.pkg is None
        for device in pyRAPL._sensor._device_api.values():
            for file in device._sys_files:
                file.close()


def test_no_dram_and_an_unlisted_zone(sysfs):
    sysfs.remove_object(f"{ZONE}/intel-rapl:0:0/name")
    sysfs.create_file(f"{ZONE}/intel-rapl:0:0/name", contents="core\n")
    sysfs.remove_object(LINK)
    counter = PyRaplCounter(alive_seconds=0)
    assert counter.info.domains == ("package-0",)
    assert counter.info.notes[0].startswith("no DRAM")
    put(10)
    assert counter.read_uj() == 0  # the range is unknown: a reset
    assert counter.breaks == 1
    counter.close()


def test_a_dead_counter(sysfs):
    with pytest.raises(MeterUnavailable, match="does not move"):
        meters.make("pyrapl")


def test_a_counter_that_breaks(sysfs):
    counter = PyRaplCounter(alive_seconds=0)
    put("")
    with pytest.raises(MeterUnavailable, match="cannot be read"):
        counter.read_uj()
    counter.close()


def test_dies_are_refused_with_words(sysfs):
    sysfs.remove_object(f"{ZONE}/name")
    sysfs.create_file(f"{ZONE}/name", contents="psys\n")
    with pytest.raises(MeterUnavailable, match="finds no RAPL domain"):
        PyRaplCounter()


def test_no_topology(sysfs):
    sysfs.remove_object("/sys/devices/system/cpu/present")
    with pytest.raises(MeterUnavailable, match="present"):
        PyRaplCounter()


def test_permission(sysfs, monkeypatch):
    with module._quiet():
        import pyRAPL

    def deny():
        raise PermissionError(13, "Permission denied", f"{ZONE}/energy_uj")

    monkeypatch.setattr(pyRAPL, "Sensor", deny)
    with pytest.raises(MeterPermissionError) as caught:
        PyRaplCounter()
    assert str(caught.value) == permission_text(f"{ZONE}/energy_uj")


def test_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyRAPL", None)
    with pytest.raises(MeterUnavailable, match="not installed"):
        PyRaplCounter()


def test_its_warnings_are_kept_from_the_root_logger(caplog):
    root = logging.getLogger()
    before = root.handlers[:], root.filters[:]
    with module._quiet():
        root.handle(logging.makeLogRecord({"msg": "theirs", "pathname": "x/pyRAPL/outputs.py"}))
        root.warning("ours")
    assert [record.msg for record in caplog.records] == ["ours"]
    assert (root.handlers, root.filters) == before


# --- a fake /sys, in a mount namespace ---


def in_fake_sys(unprivileged, *arguments, **variables):
    """Run compare.py there, or skip, visibly, where the kernel refuses namespaces."""
    # Where the project checks itself nothing may be skipped: EIJ_NO_SKIP=1.
    give_up = pytest.fail if os.environ.get("EIJ_NO_SKIP") else pytest.skip
    if not unprivileged and os.geteuid() != 0:
        give_up("unshare -m needs root")
    flags = "-rm" if unprivileged else "-m"
    probe = subprocess.run(
        ["unshare", flags, "--propagation", "private", "mount", "-t", "tmpfs", "t", "/sys/class"],
        capture_output=True,
        text=True,
    )
    if probe.returncode:
        give_up(f"unshare {flags} is refused here: {probe.stderr.strip()}")
    environment = {**os.environ, "PY": sys.executable, "PYTHONPATH": str(ROOT), **variables}
    environment |= {"UNPRIV": "1"} if unprivileged else {}
    run = subprocess.run(
        ["sh", HERE / "in_fake_sys.sh", sys.executable, HERE / "compare.py", *arguments],
        capture_output=True,
        text=True,
        env=environment,
        cwd="/",
        timeout=60,
    )
    assert run.returncode == 0, run.stderr
    assert "pymongo" not in run.stderr
    return json.loads(run.stdout.splitlines()[-1])


def check_against_witness(out, power_ratio, watts):
    """The counter's own zone "core" is the truth: a clock would blame a writer without CPU."""
    least, most = (power_ratio * joules for joules in out["witness"])
    ticks = 0.006 * watts  # zones are written one after another, up to three ticks at a time
    assert least - ticks <= out["native"] <= most + ticks
    assert least > 5 * ticks
    assert out["least"] <= out["pyrapl"] <= out["most"]


def test_native_and_pyrapl_agree_without_root():
    out = in_fake_sys("1", "1")
    assert out["failures"] == []
    assert out["native_domains"] == out["pyrapl_domains"] == ["package-0", "package-0/dram"]
    check_against_witness(out, 50 / 30, 50)


def test_two_sockets_that_wrap_and_a_stranger():
    socket = {"max_uj": 60_000_000, "rated_uw": 40_000_000, "mode": 0o400}
    spec = [
        {"zone": "0", "name": "package-0", "watts": 40, "start_uj": 35_000_000, **socket},
        {"zone": "0:0", "name": "dram", "watts": 5, **socket},
        {"zone": "1", "name": "package-1", "watts": 30, "start_uj": 45_000_000, **socket},
        {"zone": "1:0", "name": "dram", "watts": 4, **socket},
        {"zone": "0:1", "name": "core", "watts": 79},
    ]
    out = in_fake_sys("", "1", "refused", SPEC=json.dumps(spec), PKGIDS="0 1")
    assert out["failures"] == []
    assert len(out["pyrapl_domains"]) == 4
    check_against_witness(out, 1, 79)
    # nobody, afterwards, is told what to do
    for name, path in (("native", LINK), ("pyrapl", ZONE)):
        assert out["refused"][name] == permission_text(f"{path}/energy_uj")

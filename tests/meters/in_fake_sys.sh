#!/bin/sh
# Run a command in a mount namespace of its own, where /sys/class/powercap ticks.
#   [UNPRIV=1] [TICK=1] [SPEC=JSON] [PKGIDS="0 1"] in_fake_sys.sh COMMAND...
# Nothing outside the namespace changes. UNPRIV=1 works without root.
HERE=$(dirname "$(readlink -f "$0")")
FAKE=$(mktemp -d)
export FAKE HERE PY="${PY:-python3}" TICK="${TICK:-1}" SPEC PKGIDS
unshare -m${UNPRIV:+r} --propagation private sh -c '
set -e
mkdir $FAKE/oldclass $FAKE/oldvirt
mount --bind /sys/class $FAKE/oldclass
"$PY" $HERE/fake_powercap.py $FAKE --tick-ms $TICK ${SPEC:+--spec "$SPEC"} >$FAKE/log 2>&1 & W=$!
for i in $(seq 100); do grep -q ready $FAKE/log && break; sleep 0.1; done
mount -t tmpfs tmpfs /sys/class  # sysfs forbids mkdir
for d in $FAKE/oldclass/*; do ln -s $d /sys/class/${d##*/}; done
C=/sys/class/powercap; rm -f $C; mkdir $C; mount --bind $FAKE/class/powercap $C
V=/sys/devices/virtual  # where the links point
if [ ! -d $V/powercap ]; then
  mount --bind $V $FAKE/oldvirt; mount -t tmpfs tmpfs $V
  for d in $FAKE/oldvirt/*; do ln -s $d $V/${d##*/}; done
  mkdir $V/powercap; fi
mount --bind $FAKE/devices/virtual/powercap $V/powercap
n=0; for p in $PKGIDS; do echo $p >$FAKE/pkg$n
  mount --bind $FAKE/pkg$n /sys/devices/system/cpu/cpu$n/topology/physical_package_id
  n=$((n+1)); done
set +e; "$@"; rc=$?; kill $W; exit $rc' sh "$@"
rc=$?
rm -rf "$FAKE"
exit $rc

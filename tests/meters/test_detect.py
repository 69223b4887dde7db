"""Which counter is taken, why the others are not, and how they compare."""

import logging
import time

import pytest

from eij_core.errors import MeterPermissionError, MeterUnavailable
from eij_core.meters.counters import detect as module
from eij_core.meters.counters.cputime import CpuTimeCounter
from eij_core.meters.counters.detect import (
    check_counters,
    counter_table,
    detect,
    foreseen_info,
    openers,
)
from eij_core.meters.counters.powercap import permission_text
from eij_core.meters.settlement.counted import Counted
from eij_core.registry import meters
from tests.meters.virtual import Machine, Scripted

PATH = "/sys/class/powercap/intel-rapl:0/energy_uj"


def refuse(error):
    def opener():
        raise error

    return opener


NONE = {
    "powercap": refuse(MeterUnavailable("no tree")),
    "perf": refuse(MeterUnavailable("no PMU")),
    "pyrapl": refuse(MeterUnavailable("no sockets")),
    "cputime": lambda: CpuTimeCounter(),
}


@pytest.fixture(autouse=True)
def say_again():
    module._say.cache_clear()


def test_the_best_one_that_lives():
    good = Scripted(Machine())
    counter, refusals = detect({**NONE, "powercap": lambda: good})
    assert counter is good
    assert refusals == []
    counter, refusals = detect({**NONE, "perf": lambda: good})
    assert counter is good
    assert refusals == [("powercap", "no tree")]
    counter, refusals = detect(NONE)
    assert counter.info.name == "cputime"
    assert [name for name, _ in refusals] == ["powercap", "perf"]


def test_nothing_at_all():
    with pytest.raises(MeterUnavailable, match="cputime: no clock"):
        detect({**NONE, "cputime": refuse(MeterUnavailable("no clock"))})


def test_the_estimate_is_announced_where_permission_is_missing():
    denied = {**NONE, "powercap": refuse(MeterPermissionError(permission_text(PATH), PATH))}
    _, refusals = detect(denied)
    assert refusals[0].reason == permission_text(PATH, (10.0, 3.0))
    good = Scripted(Machine())
    _, refusals = detect({**denied, "perf": lambda: good})
    assert refusals[0].reason == permission_text(PATH)


def test_auto_says_what_it_does(monkeypatch, caplog):
    monkeypatch.setattr(module, "detect", lambda: detect(NONE))
    with caplog.at_level(logging.WARNING):
        counted = meters.make("auto")
        meters.make("auto").close()
    assert [record.message for record in caplog.records] == [
        "meter powercap: no tree",
        "meter perf: no PMU",
    ]
    assert counted.info.provenance == "estimated"
    assert "powercap refused: no tree" in counted.info.notes
    counted.close()


def test_auto_beside_a_measured_run_is_attributed(monkeypatch):
    first = Counted(Scripted(Machine()))
    openers = {**NONE, "powercap": lambda: Scripted(Machine())}
    monkeypatch.setattr(module, "detect", lambda: detect(openers))
    counted = meters.make("auto")
    assert counted.info.provenance == "attributed"
    assert counted.sharing == "shared"
    assert "another run is being measured" in counted.refusals[0].reason
    counted.close()
    first.close()


def test_the_table_of_counters():
    rows = counter_table({**NONE, "powercap": lambda: Scripted(Machine())})
    alive = {row.name: row.alive for row in rows}
    assert alive == {"powercap": True, "perf": False, "pyrapl": False, "cputime": True}
    assert rows[0].provenance == "measured"
    assert rows[0].tick_ms == 1.0
    assert rows[1].notes == "no PMU"


def test_the_table_of_this_host():
    rows = counter_table()
    assert [row.name for row in rows] == ["powercap", "perf", "pyrapl", "cputime"]
    assert rows[-1].alive
    assert all(row.alive or row.notes for row in rows)


def test_live_counters_are_compared():
    machine = Machine()
    slow = Machine()

    def load(seconds):
        machine.run(seconds * 1e9, 20.0)
        slow.run(seconds * 1e9, 10.0)
        time.sleep(0.001)

    openers = {
        "powercap": lambda: Scripted(machine),
        "perf": refuse(MeterUnavailable("no PMU")),
        "pyrapl": lambda: Scripted(machine),
        "cputime": lambda: Scripted(slow),
    }
    checked = check_counters(1.0, openers, load)
    assert [(c.name, c.agrees) for c in checked] == [
        ("powercap", None),
        ("pyrapl", True),
        ("cputime", False),
    ]
    assert checked[2].ratio == pytest.approx(0.5, rel=0.01)


def test_a_counter_that_counts_nothing_agrees_with_nobody():
    openers = {"powercap": lambda: Scripted(Machine())}
    (checked,) = check_counters(0.01, openers)
    assert (checked.joules, checked.ratio, checked.agrees) == (0.0, 0.0, False)


def test_the_order_of_counters_stands_beside_each():
    assert list(openers()) == ["powercap", "perf", "pyrapl", "cputime"]
    assert list(openers(automatic=True)) == ["powercap", "perf", "cputime"]


@pytest.mark.parametrize(
    ("meter", "name", "provenances"),
    [
        ("powercap", "powercap", {"measured", "attributed"}),
        ("perf:sharing=shared", "perf", {"attributed"}),
        ("cputime:watts=10", "cputime", {"estimated"}),
        ("model", "model", {"simulated"}),
    ],
)
def test_a_meter_is_known_without_opening_its_counter(
    tmp_path, monkeypatch, meter, name, provenances
):
    monkeypatch.setenv("EIJ_POWERCAP_ROOT", str(tmp_path / "nothing"))
    info = foreseen_info(meters.check(meter))
    assert info.name == name
    assert str(info.provenance) in provenances
    assert (info.scope == "package") == (name in ("powercap", "perf"))


def test_the_choice_of_auto_is_kept(monkeypatch):
    module._auto_info.cache_clear()
    opened = []
    monkeypatch.setattr(module, "detect", lambda: opened.append(1) or detect(NONE))
    for _ in range(2):
        assert foreseen_info(meters.check("auto")).name == "cputime"
    assert opened == [1]
    module._auto_info.cache_clear()
    own = Counted(Scripted(Machine()), sharing="shared")
    assert foreseen_info(own).provenance == "attributed"
    own.close()

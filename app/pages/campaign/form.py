"""The form of a campaign: a grid from widgets, or a file in TOML; errors at their field."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import panel as pn
import panel_material_ui as pmui

from eij_core import EijError, InputError
from eij_core.campaigns import Campaign
from eij_core.campaigns.grid import PLURALS, parsed
from eij_core.campaigns.preparation import combinations
from eij_core.registry import Range
from eij_core.trial import FAMILIES

from ...server.limits import check_trial, is_public
from ...text.names import by_name
from ...text.numbers import count
from ...views.panes import html_pane
from ..common.fields import number_field
from ..common.layout import FIELD, WIDE, alert_box, column, show_alert
from ..common.offers import offered, offered_spec

EXAMPLE = Path(__file__).with_name("example.toml").read_text("utf-8")
LABELS = {"problems": "Problems", "algorithms": "Algorithms", "selectors": "Rules"}
START = parsed(EXAMPLE)
"""What the form holds at first."""
CELLS, TRIALS = 24, 2_000
"""What a public server grants one campaign: combinations to compile, and trials."""
PRIVATE_TRIALS = 20_000
"""Trials of a campaign from this page elsewhere; larger ones are for the command line."""
LONGEST = 20_000
"""Characters of a file."""


class CampaignForm(pn.viewable.Viewer):
    """What to run; `campaign()` reads it."""

    def __init__(self) -> None:
        super().__init__()
        self.way = pmui.RadioButtonGroup(
            options={"Choose": "grid", "Paste a file": "file"}, value="grid", **FIELD
        )
        self.fields: dict[str, Any] = {
            key: pmui.MultiChoice(
                label=LABELS[key],
                options=by_name(family, offered(family)),
                value=START[key],
                **WIDE,
            )
            for key, family in PLURALS.items()
        } | {
            "alone": pmui.Switch(
                label="also each operator alone", value=True, margin=(4, 8), size="small"
            ),
            "budget": pmui.TextInput(
                label="Budget of each trial", value=START["budget"], placeholder="300 J", **FIELD
            ),
            "seeds": number_field("Repetitions", START["seeds"], Range(2, 1000), **FIELD),
            "meter": pmui.Select(
                label="Energy meter", options=["paper", "model"], value=START["meter"], **FIELD
            ),
        }
        self.file = pmui.TextAreaInput(
            label="Campaign file (TOML)", value=EXAMPLE, rows=13, max_length=LONGEST,
            auto_grow=True, max_rows=24, visible=False,
            sx={"& textarea": {"fontFamily": "ui-monospace, monospace", "fontSize": "0.8rem"}},
            **FIELD,
        )  # fmt: skip
        self.complaint = alert_box()
        self.size = html_pane((4, 8))
        self.way.param.watch(self._on_way, "value")
        for widget in (*self.fields.values(), self.file):
            widget.param.watch(lambda _: self.check(), "value")
        self.check()

    def __panel__(self) -> Any:
        parts = (self.way, *self.fields.values(), self.file, self.complaint, self.size)
        return column(*parts, margin=(4, 0))

    # --- what it says ---

    def data(self) -> dict[str, Any]:
        """Return what is to be run, as a campaign's file has it; not checked yet."""
        if self.way.value == "file":
            written = str(self.file.value)
            if len(written) > LONGEST:
                found = f"{len(written)} characters"
                raise InputError("campaign file", found, f"at most {LONGEST}")
            return parsed(written)
        chosen = {key: widget.value for key, widget in self.fields.items()}
        data = {"name": "dashboard", **{key: chosen[key] for key in ("meter", "budget", *PLURALS)}}
        data["seeds"] = int(chosen["seeds"] or 0)
        if chosen["alone"] and all(chosen[key] for key in PLURALS):
            # Each algorithm has operators, and so a grid, of its own.
            data["grid"] = [
                {"algorithms": [name], "selectors": [*chosen["selectors"], *_each_alone(name)]}
                for name in chosen["algorithms"]
            ]
        return data

    def campaign(self) -> Campaign:
        """Return what is to be run, or raise `InputError` for the field that is wrong."""
        data = self.data()
        refuse_private(data)
        campaign = Campaign.from_dict(data, TRIALS if is_public() else PRIVATE_TRIALS)
        cells = combinations(campaign.trials)
        for trial in cells:
            check_trial(trial)
        if is_public() and len(cells) > CELLS:
            found = f"{len(cells)} combinations of components"
            raise InputError("selectors", found, f"at most {CELLS} on this server")
        return campaign

    def complain(self, error: EijError | None) -> None:
        """Show an error at the field that it is about; None clears all."""
        home = error.field.partition(":")[0] if isinstance(error, InputError) else ""
        found = "file" if self.way.value == "file" else self._field(home)
        for key, widget in {**self.fields, "file": self.file}.items():
            if "error_state" in widget.param:
                widget.error_state = error is not None and key == found
        show_alert(self.complaint, error)

    def _field(self, home: str) -> str:
        """Return the widget that a field belongs to: its own, its family's or its component's."""
        for key, family in PLURALS.items():
            if home in (key, family) or home in self.fields[key].value:
                return key
        return {"budgets": "budget"}.get(home, home)

    def check(self) -> None:
        """Say how many trials that makes; complain about what cannot be."""
        try:
            campaign = self.campaign()
        except EijError as error:
            self.complain(error)
            self.size.object = ""
            return
        self.complain(None)
        trials, cells = len(campaign.trials), len(combinations(campaign.trials))
        self.size.object = (
            f"<div class='words quiet'>{count(trials)} trials, {cells} combinations</div>"
        )

    def _on_way(self, event: Any) -> None:
        chosen = event.new == "file"
        for widget in self.fields.values():
            widget.visible = not chosen
        self.file.visible = chosen
        self.check()


def _each_alone(algorithm: str) -> list[str]:
    """Return the selectors that choose one operator of an algorithm all the time."""
    operators = FAMILIES["algorithm"].make(algorithm).operators
    return [f"static:operator={operator.name}" for operator in operators]


def refuse_private(data: dict[str, Any]) -> None:
    """Refuse what reads files or runs code of the server, before anything is looked up."""
    if "import" in data:
        raise InputError("import", data["import"], "no import in a file that a page is given: it "
                         "executes code, so the server's owner asks for it: eij serve --import"
                         )  # fmt: skip
    grids = data.get("grid")
    tables = [data, *(grids if isinstance(grids, list) else [])]
    for table in tables:
        for key, family in {**PLURALS, "meter": "meter"}.items():
            found = table.get(key) if isinstance(table, dict) else None
            for item in found if isinstance(found, list) else [found]:
                name = item.get("name") if isinstance(item, dict) else item
                if isinstance(name, str):
                    offered_spec(family, name)

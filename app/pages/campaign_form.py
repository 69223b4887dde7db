"""The form of a campaign: a grid from widgets, or a file in TOML; errors at their field."""

from __future__ import annotations

import json
from typing import Any

import panel as pn
import panel_material_ui as pmui

from app.escape import text
from app.limits import check_trial, is_public
from app.settings import offered
from app.theme import PAGE_CSS
from eij_core import EijError, InputError, Spec
from eij_core.campaigns import Campaign
from eij_core.campaigns.grid import PLURALS, parsed
from eij_core.campaigns.preparation import combinations
from eij_core.trial import FAMILIES

__all__ = ["CampaignForm"]

EXAMPLE = """\
name = "my campaign"
problems = ["knapsack"]
algorithms = ["ils"]
selectors = ["eij-plus", "eij", "uniform"]
meter = "paper"
budget = "300 J"
seeds = 20
"""
CELLS, TRIALS = 24, 2_000
"""What a public server grants one campaign: combinations to compile, and trials."""
PRIVATE_TRIALS = 20_000
"""Trials of a campaign from this page elsewhere; larger ones are for the command line."""
LONGEST = 20_000
"""Characters of a file."""


class CampaignForm(pn.viewable.Viewer):
    """What to run; `campaign()` reads it."""

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        broad: dict[str, Any] = {"sizing_mode": "stretch_width", "margin": (8, 4)}
        wide = {**broad, "size": "small"}
        self.way = pmui.RadioButtonGroup(
            options={"Choose": "grid", "Paste a file": "file"}, value="grid", size="small",
            sizing_mode="stretch_width", margin=(4, 4, 8, 4),
        )  # fmt: skip
        self.fields: dict[str, Any] = {
            "problems": pmui.MultiChoice(
                label="Problems", options=offered("problem"), value=["knapsack"], **broad
            ),
            "algorithms": pmui.MultiChoice(
                label="Algorithms", options=offered("algorithm"), value=["ils"], **broad
            ),
            "selectors": pmui.MultiChoice(
                label="Selectors", options=offered("selector"),
                value=["eij-plus", "eij", "uniform"], **broad,
            ),
            "alone": pmui.Switch(
                label="also each operator alone", value=True, margin=(4, 8), size="small"
            ),
            "budget": pmui.TextInput(
                label="Budget of each trial", value="300 J", placeholder="300 J", **wide
            ),
            "seeds": pmui.IntInput(
                label="Repetitions", value=20, start=2, end=1000, step=1, **wide
            ),
            "meter": pmui.Select(label="Energy meter", options=["paper", "model"], value="paper",
                                 **wide),
        }  # fmt: skip
        self.file = pmui.TextAreaInput(
            label="Campaign file (TOML)", value=EXAMPLE, rows=13, max_length=LONGEST,
            auto_grow=True, max_rows=24, visible=False,
            sx={"& textarea": {"fontFamily": "ui-monospace, monospace", "fontSize": "0.8rem"}},
            **wide,
        )  # fmt: skip
        self.complaint = pmui.Alert(
            object="", severity="error", visible=False, margin=(4, 4), sizing_mode="stretch_width"
        )
        self.size = pn.pane.HTML(
            "", margin=(4, 8), sizing_mode="stretch_width", stylesheets=[PAGE_CSS]
        )
        self.way.param.watch(self._on_way, "value")
        for widget in (*self.fields.values(), self.file):
            widget.param.watch(lambda _: self.count(), "value")
        self.count()

    def __panel__(self) -> Any:
        return pmui.Column(
            self.way, *self.fields.values(), self.file, self.complaint, self.size,
            sizing_mode="stretch_width", margin=(4, 2),
        )  # fmt: skip

    # --- what it says ---

    def toml(self) -> str:
        """Return the campaign's file."""
        if self.way.value == "file":
            return str(self.file.value)
        fields = self.fields
        lines = ['name = "dashboard"']
        shared = {key: list(fields[key].value) for key in PLURALS}
        lines += [
            f'meter = "{fields["meter"].value}"',
            f"budget = {_quoted(fields['budget'].value)}",
        ]
        lines += [f"seeds = {int(fields['seeds'].value or 0)}"]
        if not fields["alone"].value or not all(shared.values()):
            lines += [f"{key} = {_listed(values)}" for key, values in shared.items()]
            return "\n".join(lines) + "\n"
        lines.append(f"problems = {_listed(shared['problems'])}")
        for algorithm in shared["algorithms"]:
            # Each algorithm has its own operators: its own grid.
            operators = [o.name for o in FAMILIES["algorithm"].make(algorithm).operators]
            rules = [*shared["selectors"], *(f"static:operator={name}" for name in operators)]
            lines += [
                "", "[[grid]]", f"algorithms = {_listed([algorithm])}",
                f"selectors = {_listed(rules)}",
            ]  # fmt: skip
        return "\n".join(lines) + "\n"

    def campaign(self) -> Campaign:
        """Return what is to be run, or raise `InputError` for the field that is wrong."""
        written = self.toml()
        if len(written) > LONGEST:
            raise InputError("campaign file", f"{len(written)} characters", f"at most {LONGEST}")
        data = parsed(written)
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
        field = error.field if isinstance(error, InputError) else ""
        home = field.partition(":")[0]
        found = "file" if self.way.value == "file" else self._field(home)
        for key, widget in {**self.fields, "file": self.file}.items():
            if "error_state" in widget.param:
                widget.error_state = error is not None and key == found
        self.complaint.param.update(
            object="" if error is None else text(error), visible=error is not None
        )

    def _field(self, home: str) -> str:
        """Return the widget that a field belongs to: its own, its family's or its component's."""
        for key, family in PLURALS.items():
            if home in (key, family) or home in self.fields[key].value:
                return key
        return {"budgets": "budget"}.get(home, home)

    def count(self) -> None:
        """Say how many trials that makes; complain about what cannot be."""
        try:
            campaign = self.campaign()
        except EijError as error:
            self.complain(error)
            self.size.object = ""
            return
        self.complain(None)
        cells = len(combinations(campaign.trials))
        self.size.object = (
            f"<div class='words quiet'>{len(campaign.trials):,} trials, {cells} combinations</div>"
        )

    def _on_way(self, event: Any) -> None:
        chosen = event.new == "file"
        for widget in self.fields.values():
            widget.visible = not chosen
        self.file.visible = chosen
        self.count()


def _quoted(value: object) -> str:
    return json.dumps(str(value), ensure_ascii=False)


def _listed(values: list[str]) -> str:
    return "[" + ", ".join(map(_quoted, values)) + "]"


def refuse_private(data: dict[str, Any]) -> None:
    """Refuse what reads files or runs code of the server, before anything is looked up."""
    grids = data.get("grid")
    tables = [data, *(grids if isinstance(grids, list) else [])]
    for table in tables:
        for key, family in {**PLURALS, "meter": "meter"}.items():
            found = table.get(key) if isinstance(table, dict) else None
            for item in found if isinstance(found, list) else [found]:
                name = item.get("name") if isinstance(item, dict) else item
                if isinstance(name, str) and (bare := Spec.parse(name).name) not in offered(family):
                    raise InputError(family, bare, f"one of {', '.join(offered(family))}")

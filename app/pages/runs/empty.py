"""What the page says where there is no run yet: three ways to get one here."""

from __future__ import annotations

from pathlib import Path

from ...text.escape import text


def ways(folder: Path, public: bool) -> str:
    """Return how runs come here, as HTML; a public server shows no folder of its own."""
    first = (
        "<p><b>On this page's server:</b> press <i>Run</i> on the page Run. Every run is kept here "
        "by itself, while it goes on and afterwards.</p>"
    )
    if public:
        return f"<div class='words'>{first}<p class='quiet'>{PUBLIC}</p></div>"
    place = str(folder)
    loop = (
        "from eij_core import Scheduler\n\n"
        f'scheduler = Scheduler(["near", "far"], budget="2 J", record="{place}")\n'
        "for step in scheduler:\n    ...  # your own loop"
    )
    return (
        f"<div class='words'>{first}"
        "<p style='margin-top:1em'><b>On the command line:</b></p>"
        f"<pre class='code'>eij run --record {text(place)}</pre>"
        "<p style='margin-top:1em'><b>In your own program:</b></p>"
        f"<pre class='code'>{_lines(loop)}</pre>"
        "<p class='quiet' style='margin-top:1em'>A folder elsewhere: <code>eij watch FOLDER</code> "
        "shows its runs, also while they go on in other processes.</p></div>"
    )


PUBLIC = (
    "On this public server, only your browser sees your runs. They are deleted after a day; the "
    "newest 50 are kept. Download what you want to keep."
)


def _lines(code: str) -> str:
    return "\n".join(text(line) for line in code.splitlines())

"""Record what the trials of test_reproducibility give now: python -m tests.core.golden."""

import json

from eij_core import solve
from tests.core.components import fingerprint
from tests.core.test_reproducibility import GOLDEN, TRIALS


def main():
    """Write golden.json anew and say what changed."""
    before = json.loads(GOLDEN.read_text("utf-8")) if GOLDEN.exists() else {}
    now = {name: fingerprint(solve(trial)) for name, trial in TRIALS.items()}
    GOLDEN.write_text(json.dumps(now, indent=1, sort_keys=True) + "\n", "utf-8")
    changed = sum(before.get(key) != value for key, value in now.items())
    print(f"{len(now)} results recorded, {changed} of them new or changed")


if __name__ == "__main__":
    main()

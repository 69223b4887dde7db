"""Private attributes of other packages, one file a package: nothing else in `app` uses any.

`pyproject.toml` pins the versions that have them; `tests/app/test_internals.py` fails when one is
gone.
"""

"""Tests; a package, because some distributions install a `tests` of their own."""

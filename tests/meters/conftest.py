"""The energy tests leave the host's lock and the user's cache alone."""

import pytest


@pytest.fixture(autouse=True)
def private_places(tmp_path, monkeypatch):
    monkeypatch.setenv("EIJ_RAPL_LOCK", str(tmp_path / "rapl.lock"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("EIJ_POWERCAP_ROOT", raising=False)

"""The adapters' tests leave the host's lock and the user's cache alone."""

from tests.meters.conftest import private_places

__all__ = ["private_places"]

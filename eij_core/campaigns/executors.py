"""Where trials are computed: here, in processes of this machine, or on a Dask cluster."""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import json
import multiprocessing
import os
import signal
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from pathlib import Path
from typing import Any

from ..errors import EijError, InputError
from ..trial import Trial

__all__ = ["CampaignError", "Dask", "Inline", "Processes", "host_lock"]


VARIABLE = "EIJ_KERNELS"
"""Tells `warmed`, in the fork server, which trials' kernels to load."""


class CampaignError(EijError, RuntimeError):
    """A campaign that cannot go on now; what is stored is safe."""


class Inline(Executor):
    """Computes at once, in this process: for one worker, and for measured energy.

    Examples
    --------
    >>> Inline().submit(max, 1, 2).result()
    2
    """

    workers = 1
    flight = 1
    """Tasks under way at a time; more would only wait."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Compute and return a future that is done."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future

    def kill(self) -> None:
        """Nothing is under way."""


class Processes(Executor):
    """Processes of this machine that are replaced when one of them dies.

    Parameters
    ----------
    workers : int
    warm : iterable of Trial
        Trials whose kernels the processes shall have from the start.
    """

    def __init__(self, workers: int, warm: Iterable[Trial] = ()) -> None:
        if workers < 1:
            raise InputError("--jobs", workers, "a whole number, at least 1")
        self.workers = workers
        self.flight = 2 * workers
        method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else None
        # Not fork: a dashboard has threads, and what they hold at the fork stays held for ever.
        self._context: Any = multiprocessing.get_context(method or "spawn")
        kernels = json.dumps([trial.to_dict() for trial in itertools.islice(warm, 200)])
        if method:
            # The server starts with the first process, and reads its environment then.
            os.environ[VARIABLE] = kernels
            self._context.set_forkserver_preload(
                ["eij_core.campaigns.runner", "eij_core.campaigns.warmed"]
            )
        self._pool = self._start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Hand a call to the next free process."""
        return self._pool.submit(fn, *args, **kwargs)

    def restart(self) -> None:
        """Begin again with fresh processes, after one has died."""
        self.kill()
        self._pool = self._start()

    def kill(self) -> None:
        """End the processes at once, whatever they are at."""
        processes = list((getattr(self._pool, "_processes", None) or {}).values())
        for process in processes:
            with contextlib.suppress(OSError, ValueError):
                process.kill()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let the processes finish and go."""
        self._pool.shutdown(wait=wait, cancel_futures=cancel_futures)

    def _start(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self.workers, self._context, initializer=_enter)


def _enter() -> None:
    """Prepare a worker process: it leaves Ctrl-C to its parent, and dies with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_die_with, args=(parent,), daemon=True).start()


def _die_with(parent: Any) -> None:
    parent.join()
    os._exit(1)


class Dask(Executor):
    """A Dask cluster, for more than one machine.

    Parameters
    ----------
    address : str or distributed.Client
        Where the scheduler listens, such as `tcp://10.0.0.5:8786`.
    timeout : str
        How long to wait for it.
    """

    def __init__(self, address: Any, timeout: str = "15s") -> None:
        try:
            import distributed
        except ImportError:  # pragma: no cover  (the tests have it)
            raise CampaignError(
                "--dask needs the package distributed: pip install 'eij[dask]'"
            ) from None
        self._owned = isinstance(address, str)
        try:
            self.client = distributed.Client(address, timeout=timeout) if self._owned else address
        except (OSError, ValueError) as error:
            raise CampaignError(f"no Dask scheduler answers at {address} ({error})") from error
        self._inner = self.client.get_executor(pure=False)

    @property
    def workers(self) -> int:
        """Threads of all workers, now."""
        info = self.client.scheduler_info(n_workers=-1)
        return sum(worker["nthreads"] for worker in info.get("workers", {}).values())

    @property
    def flight(self) -> int:
        """Tasks under way at a time."""
        return max(1, 2 * self.workers)

    @property
    def lost(self) -> str:
        """Why no result will come any more; empty while all is well."""
        return "" if self.client.status == "running" else "the Dask scheduler is gone"

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Hand a call to the cluster; its future is released when it is dropped."""
        return self._inner.submit(fn, *args, **kwargs)

    def kill(self) -> None:
        """Call off what is under way."""
        with contextlib.suppress(Exception):
            self._inner.shutdown(wait=False)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster."""
        with contextlib.suppress(Exception):
            self._inner.shutdown(wait=wait and not self.lost)
        if self._owned:
            self.client.close(timeout=2)


@contextlib.contextmanager
def host_lock(folders: tuple[str, ...] = ("/run/lock", tempfile.gettempdir())) -> Iterator[None]:
    """Be the only measured trial on this host: RAPL counts the package, not the process."""
    folder = next(place for place in folders if os.access(place, os.W_OK))
    descriptor = os.open(Path(folder) / "eij-rapl.lock", os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)

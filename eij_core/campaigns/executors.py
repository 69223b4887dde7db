"""Where tasks are computed: in this process, in processes of this machine, or on a Dask cluster."""

from __future__ import annotations

import concurrent.futures
import contextlib
import itertools
import json
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from functools import partial
from multiprocessing import forkserver
from typing import Any

from ..errors import EijError, InputError
from ..imports import Import, import_in_worker, imported
from ..protocols import CampaignExecutor, Executor
from ..run import RunError
from ..trial import Trial

VARIABLE = "EIJ_KERNELS"
"""Names the trials whose kernels `preloaded` loads in the fork server."""
PATIENCE = 0.8
"""Seconds that processes get to end their present task when the work is interrupted."""


class CampaignError(EijError, RuntimeError):
    """A campaign that cannot go on now; the stored trials are safe."""


class Inline(concurrent.futures.Executor):
    """Computes at once, in this process: for one worker, and for measured energy.

    Examples
    --------
    >>> Inline().submit(max, 1, 2).result()
    2
    """

    flight = 1
    """Tasks under way at a time; more would only wait."""
    lost = stalled = ""
    breaks = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Compute and return a future that is done."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future

    def restart(self) -> None:
        """Do nothing, because there is no process to replace."""

    def kill(self, patience: float = 0.0) -> None:
        """Do nothing, because no task is under way."""


class Processes(concurrent.futures.Executor):
    """Processes of this machine that are replaced when one of them dies.

    Parameters
    ----------
    workers : int
    warm : iterable of Trial
        Trials whose kernels the processes have from the start.
    modules : iterable of str
        Modules that the processes have from the start.
    """

    lost = stalled = ""
    breaks = True
    """The death of one process ends all tasks under way."""

    def __init__(
        self, workers: int, warm: Iterable[Trial] = (), modules: Iterable[str] = ()
    ) -> None:
        if workers < 1:
            raise InputError("--jobs", workers, "a whole number, at least 1")
        self.workers = workers
        self.flight = 2 * workers
        method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else None
        # Not fork: a lock that a thread of the parent holds at the fork stays held in the child.
        # A context of its own, which keeps count of the processes that the pool starts.
        kind: Any = type(multiprocessing.get_context(method or "spawn"))
        self._context = kind()
        self._context.Process = self._new_process
        kernels = json.dumps([trial.to_dict() for trial in itertools.islice(warm, 200)])
        if method:
            os.environ[VARIABLE] = kernels
            ours = (f"{__package__}.runner", f"{__package__}.preloaded")
            self._context.set_forkserver_preload([*ours, *modules])
            # The server loads them with SIGINT blocked, because the parent handles Ctrl-C.
            mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            try:
                forkserver.ensure_running()
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        self._start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Hand a call to the next free process."""
        return self._pool.submit(fn, *args, **kwargs)

    def restart(self) -> None:
        """Replace all processes, after one has died."""
        self.kill()
        self._start()

    def kill(self, patience: float = 0.0) -> None:
        """Ask the processes to stop (see `stop_asked`), and kill those left after `patience` s."""
        self._stop.set()
        cut = threading.Timer(patience, _kill, [self._started])
        cut.start()
        try:
            # Wait for the pool's own thread too: it removes the semaphores.
            self._pool.shutdown(wait=True, cancel_futures=True)
        finally:
            cut.cancel()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Wait for the tasks under way, then end the processes."""
        self._pool.shutdown(wait=wait, cancel_futures=cancel_futures)

    def _new_process(self, *args: Any, **kwargs: Any) -> Any:
        self._started.append(type(self._context).Process(*args, **kwargs))
        return self._started[-1]

    def _start(self) -> None:
        self._started: list[Any] = []
        self._stop = self._context.Event()
        self._pool = ProcessPoolExecutor(
            self.workers, self._context, initializer=_enter, initargs=(self._stop,)
        )


def _kill(children: Iterable[Any]) -> None:
    for child in children:
        with contextlib.suppress(OSError, ValueError):
            child.kill()


_stop: Any = None


def stop_asked() -> bool:
    """Tell, in a process of `Processes`, whether its present task should end early."""
    return _stop is not None and _stop.is_set()


def _enter(stop: Any) -> None:
    """Prepare a worker process: it ignores Ctrl-C, and ends when its parent ends."""
    global _stop
    _stop = stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_die_with, args=(parent,), daemon=True).start()


def _die_with(parent: Any) -> None:
    parent.join()
    os._exit(1)


class Dask(concurrent.futures.Executor):
    """A Dask cluster, for more than one machine.

    Parameters
    ----------
    address : str or distributed.Client
        Where the scheduler listens, such as `tcp://10.0.0.5:8786`.
    timeout : str
        How long to wait for it.
    """

    breaks = False

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
        self._address = self.client.scheduler_info(n_workers=0)["address"]
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
        """Why no result will come any more; empty while the cluster works."""
        return "" if self.client.status == "running" else "the Dask scheduler is gone"

    @property
    def stalled(self) -> str:
        """What the tasks under way wait for; empty while the cluster has workers."""
        if self.lost or self.workers:
            return ""
        return (
            f"the Dask scheduler at {self._address} has no workers, so the campaign waits for "
            f"some: start them with `dask worker {self._address}`"
        )

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Hand a call to the cluster; its future is released when it is dropped."""
        return self._inner.submit(fn, *args, **kwargs)

    def restart(self) -> None:
        """Do nothing, because Dask replaces its workers itself."""

    def kill(self, patience: float = 0.0) -> None:
        """Cancel what is under way."""
        with contextlib.suppress(Exception):
            self._inner.shutdown(wait=False)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster."""
        with contextlib.suppress(Exception):
            self._inner.shutdown(wait=wait and not self.lost)
        if self._owned:
            self.client.close(timeout=2)


class PlainExecutor(Inline):
    """Any other executor of `concurrent.futures`; it cannot replace a worker that died."""

    flight = 2 * (os.cpu_count() or 1)

    def __init__(self, executor: Executor) -> None:
        self.submit = executor.submit  # type: ignore[method-assign]

    def restart(self) -> None:
        """Raise, because the workers cannot be replaced."""
        raise CampaignError("a worker died and this executor cannot replace it; use Processes(n)")


@contextlib.contextmanager
def ending(executor: CampaignExecutor, patience: float = 0.0) -> Iterator[None]:
    """Shut an executor down at the end of a block; kill it where the block is interrupted."""
    try:
        yield
    except BaseException:
        executor.kill(patience)
        executor.shutdown(wait=False)
        raise
    executor.shutdown()


def _call(function: Callable[..., Any], imports: tuple[Import, ...], item: Any) -> Any:
    """Apply a function in a worker that has what the owner has imported."""
    import_in_worker(imports)
    return function(item)


def in_order(
    function: Callable[..., Any], items: list[Any], jobs: int, warm: Iterable[Trial] = ()
) -> Iterator[Any]:
    """Apply a function to items, here or in processes; yield the results in the items' order.

    An interrupted block gives the processes `PATIENCE` seconds: `stop_asked` tells them.

    Examples
    --------
    >>> list(in_order(abs, [-1, -2], 1))
    [1, 2]
    """
    jobs = min(jobs, len(items))
    if jobs <= 1:
        yield from map(function, items)
        return
    executor = Processes(jobs, warm, [getattr(function, "func", function).__module__])
    call = partial(_call, function, tuple(map(Import.of, imported)))
    try:
        with ending(executor, PATIENCE):
            yield from executor.map(call, items)
    except BrokenExecutor:
        raise RunError("a worker process died: it was killed, or memory ran out") from None

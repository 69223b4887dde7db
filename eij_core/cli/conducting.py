"""Running a campaign from the command line: what is said before, meanwhile and afterwards."""

from __future__ import annotations

import os
import shlex
import sys
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import typer

from .. import __version__
from ..campaigns import (
    Campaign,
    CampaignError,
    Dask,
    Inline,
    Processes,
    Reader,
    Store,
    StoreError,
    StoreRefused,
    check_energy,
    key_of,
    prepare,
    run_campaign,
)
from ..campaigns.preparation import is_measured
from ..errors import InputError
from .bars import Bar

__all__ = ["conduct", "state_of"]


def conduct(
    campaign: Campaign,
    folder: Path,
    jobs: int | None,
    dask: str | None,
    extend: bool = False,
    retry_failed: bool = False,
    quiet: bool = False,
) -> int:
    """Run what is left of a campaign; return the exit code.

    0: all trials are done; 1: some failed, they are listed. An interrupted or impossible campaign
    ends with the command that resumes it.
    """
    if jobs and dask:
        raise InputError("--jobs", jobs, "either --jobs or --dask")
    if jobs is None:
        jobs = 1 if is_measured(campaign.trials) else os.cpu_count() or 1
    check_energy(campaign.trials, jobs)
    with Store(folder) as store:
        _agree(campaign, store, extend)
        try:
            failed = _run(campaign, store, jobs, dask, retry_failed, quiet)
        except (KeyboardInterrupt, StoreError, CampaignError) as error:
            command = f"eij campaign resume --store {shlex.quote(str(folder))}"
            done = sum(state == "done" for state in store.states().values())
            print(f"eij: stopped with {done} trials stored; go on with: {command}", file=sys.stderr)
            if not isinstance(error, KeyboardInterrupt):
                raise
            return 1  # `eij` itself knows which signal it was
        for key, text in failed.items():
            print(f"eij: trial {key} failed: {text}", file=sys.stderr)
        if not quiet:
            count = len(campaign.trials)
            typer.echo(f"{count - len(failed)} of {count} trials are done, in {folder}")
    return 1 if failed else 0


def _agree(campaign: Campaign, store: Store, extend: bool) -> None:
    """Note what is run; refuse to mix it with something else."""
    before, version = store.spec(), store.code_version()
    if not before:
        store.begin(campaign.data, __version__)
        return
    changes = campaign.diff(before)
    if version not in ("", __version__):
        changes.append(f"version {version} became {__version__}")
    if not changes:
        return
    if not extend:
        store.close()
        raise StoreRefused(
            f"{store.folder} was made from another campaign ({'; '.join(changes)}); choose "
            f"another folder, or go on with what changed: --extend"
        )
    store.begin(campaign.data, __version__)


def _run(
    campaign: Campaign,
    store: Store,
    jobs: int,
    dask: str | None,
    retry_failed: bool,
    quiet: bool,
) -> dict[str, str]:
    """Run what the store does not have; return the failures."""
    keys: dict[Any, str] = {}
    states = store.states()
    done = {"done"} if retry_failed else {"done", "failed"}
    todo = [trial for trial in campaign.trials if states.get(key_of(trial, keys)) not in done]
    if todo:
        with Bar("compiling", quiet) as bar:
            warm = prepare(todo, lambda i, n, name: bar(i / n, f"compiling {name}"))
        executor: Executor
        if dask:
            executor = Dask(dask)
        elif jobs == 1:
            executor = Inline()
        else:
            executor = Processes(jobs, warm)
        try:
            with Bar("running", quiet) as bar:
                total = len(campaign.trials)
                finished = total - len(todo)
                for _ in run_campaign(todo, executor, store, retry_failed=retry_failed):
                    finished += 1
                    bar(finished / total, f"{finished} of {total} trials")
        except BaseException:
            executor.kill()
            raise
        finally:
            executor.shutdown(wait=False)
    planned = {key_of(trial, keys) for trial in campaign.trials}
    return {
        row.key: row.error.strip().splitlines()[-1]
        for row in store.rows()
        if row.state == "failed" and row.key in planned
    }


def state_of(folder: Path) -> dict[str, Any]:
    """Return how far a campaign is, as plain data."""
    with Reader(folder) as reader:
        trials = Campaign.from_dict(reader.spec()).trials if reader.spec() else ()
        keys: dict[Any, str] = {}
        planned = {key_of(trial, keys) for trial in trials}
        rows = [row for row in reader.rows() if row.key in planned]
        return {
            "planned": len(planned),
            "done": sum(row.state == "done" for row in rows),
            "failed": {
                row.key: row.error.strip().splitlines()[-1] for row in rows if row.state == "failed"
            },
            "lost_attempts": len(reader.attempts()),
            "bad_parts": reader.check_parts(),
        }

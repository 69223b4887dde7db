"""Campaigns of somebody's own components on a real Dask cluster."""

import pytest

from eij_core.campaigns import Campaign, Dask, runner
from eij_core.imports import Import, import_components, import_in_worker, imported
from tests.campaign.small import run
from tests.plugins.test_stores import GRID

distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.long


@pytest.fixture
def plan(mine):
    import_components([str(mine.path)])
    return Campaign.from_toml(GRID.format(import_=""))


def test_workers_get_the_file_also_where_it_is_not(mine, plan, tmp_path):
    here = {row.key: row.result["digest"] for row in run(tmp_path / "here", plan)}
    mine.path.unlink()  # as if the worker were on another machine
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        there = run(tmp_path / "there", plan, Dask(client))
    assert {row.key: row.result.get("digest") for row in there} == here


def test_a_cluster_without_workers_is_named_and_waited_for(plan, tmp_path, caplog, monkeypatch):
    with (
        distributed.LocalCluster(
            n_workers=0, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        executor = Dask(client)
        address = cluster.scheduler_address

        def said(line):
            log.info(line)
            cluster.scale(1)  # somebody reads it and starts a worker

        log = runner.log
        monkeypatch.setattr(log, "warning", said)
        with caplog.at_level("INFO", log.name):
            rows = run(tmp_path / "store", plan, executor)
        assert executor.stalled == ""
    assert {row.state for row in rows} == {"done"}
    assert caplog.text.count(f"the Dask scheduler at {address} has no workers") == 1
    assert f"dask worker {address}" in caplog.text


def test_a_preloaded_module_is_no_error(mine, tmp_path):
    """`dask worker --preload FILE` imports a file and then loads it once more."""
    with (
        distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            preload=[str(mine.path)],
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        known = client.submit(_lists_it).result(timeout=60)
    assert known


def _lists_it():
    from eij_core.components import problems

    return "leading-mine" in problems


def test_a_worker_says_what_it_lacks(mine):
    import_components([str(mine.path)])
    wanted = Import.of("somebodys")
    mine.forget()
    mine.path.unlink()
    import_in_worker([wanted])  # from its source
    import_in_worker([Import("__main__")])
    assert imported == {}
    mine.forget()
    with pytest.raises(Exception, match="this worker has no module somebodys: install it there"):
        import_in_worker([wanted._replace(source=b"")])
    with pytest.raises(Exception, match="this worker has another version of json"):
        import_in_worker([Import.of("json")._replace(sha256="0" * 64)])

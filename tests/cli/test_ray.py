"""A sweep on a Ray cluster of two nodes on this machine, one of which is killed.

Ray is 80 MB and stays out of the extra `dev`: pip install -c constraints.txt -e '.[dev,ray]', then
pytest tests/cli/test_ray.py --all.
"""

import os
import sys
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

from extrap.cli.sweep import on_ray
from extrap.cli.sweep.display import Status
from extrap.cli.sweep.process import Process, State
from extrap.runs.study import Entry
from extrap.utils.pip import install_extra
from tests.support.program import REPOSITORY, until

RAY = "hydra/launcher=ray"


def test_without_the_extra_it_is_named(worker):
    (worker.source / "sitecustomize.py").write_text("import sys; sys.modules['ray'] = None")
    done = worker("-m", "act=work", RAY)
    line = f"extrap: hydra/launcher=ray: needs ray; {install_extra('ray')}"
    assert (done.returncode, done.stderr.splitlines()) == (2, [line])


def test_jobs_that_no_node_can_hold_are_told():
    """Ray would let them wait for ever, without a word."""
    sizes = [(True, {"CPU": 4.0}), (True, {"CPU": 2.0, "GPU": 1.0}), (False, {"CPU": 64.0})]
    here = [{"Alive": alive, "Resources": size} for alive, size in sizes]
    jobs = [
        Process("", [], Entry("s", "a", "direct", {}), threads=threads, workers=4, gpus=gpus)
        for threads, gpus in ((4, 0), (1, 1), (8, 0), (3, 1))
    ]
    line = "2 jobs wait for a node that this cluster lacks (at most cores 8, GPUs 1)"
    assert on_ray.unheld(here, jobs) == line
    assert on_ray.unheld(here, jobs[:2]) is None
    assert [on_ray.cores(here, job) for job in jobs] == [4, 2, 8, 3], "workers share what there is"


def test_why_a_task_failed_is_told():
    """Ray puts the error of a node behind its traceback."""

    class RayError(Exception):
        cause: Exception | None = None

    class Failing:
        exceptions = SimpleNamespace(RayError=RayError)

        def get(self, error):
            raise error

    lost, failed = RayError("node lost\nmore"), RayError("ray::_called()\n  File ...")
    failed.cause = OSError(28, "No space left on device")
    for error, reason in ((lost, "node lost"), (failed, f"OSError: {failed.cause}")):
        one = Process("", [], Entry("s", "a", "direct", {}))
        on_ray._end(Failing(), error, one, Status([one]))
        assert (one.state, one.reason) == (State.FAILED, f"Ray: {reason}")


def test_a_disk_is_seldom_asked_which_jobs_have_begun(elsewhere, monkeypatch, capsys):
    """A task ends at each return of `ray.wait`, ten in a second."""

    class Standing:
        def remote(self, call):
            return SimpleNamespace(options=lambda **needs: SimpleNamespace(remote=call))

        def wait(self, references, timeout):
            clock[0] += 0.1
            return references[:1], references[1:]

        def get(self, reference):
            return "done", ""

        exceptions = SimpleNamespace(RayError=RuntimeError)

    def progress(job: Process) -> dict[str, int]:
        asked.append(job.label)
        return {"done": 1} if clock[0] > 5 else {}

    asked, clock = [], [0.0]
    monkeypatch.setattr(on_ray, "_called", lambda work: work.label)
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(Process, "progress", progress)
    jobs = [Process(f"job={n}", [], Entry("s", f"{n}", "direct", {})) for n in range(200)]
    for n in (150, 199):
        jobs[n].entry.folder.folder.mkdir(parents=True)
    on_ray.run(Standing(), jobs, 0, Status(jobs))
    assert {job.state for job in jobs} == {State.DONE}
    assert {*asked} == {"job=150", "job=199"}, "the others have no folder"
    assert len(asked) == 2 * 4
    assert "[151/200] start job=150" in capsys.readouterr().err


@pytest.fixture
def nodes(worker, monkeypatch):
    """Two nodes, each with one core for jobs; workers find the program where the test has it."""
    pytest.importorskip("ray", reason="the extra `ray` is not installed")
    from ray.cluster_utils import Cluster

    path = os.pathsep.join([str(worker.source), str(REPOSITORY)])
    monkeypatch.setenv("PYTHONPATH", path)
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    small = {"num_gpus": 0, "object_store_memory": 80 * 2**20, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, **small})
    del small["include_dashboard"]
    other = cluster.add_node(num_cpus=1, **small)
    yield cluster, other
    cluster.shutdown()


@pytest.mark.whole
@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(sys.platform != "linux", reason="jobs outlive a killed node elsewhere")
def test_a_node_that_is_lost(worker, nodes):
    """Both jobs hang in their first attempt; that of the lost node starts again on the other."""
    cluster, other = nodes
    place = {"RAY_ADDRESS": cluster.address, "RAY_USAGE_STATS_ENABLED": "0"}
    sweep = replace(worker, environment=place)
    started = sweep.start("-m", "name=a,b", "act=once", RAY)
    firsts = [worker.work / "runs" / f"{name}-s0" / "first.txt" for name in "ab"]
    until(lambda: all(first.exists() for first in firsts), 200)
    cluster.remove_node(other, allow_graceful=False)
    _, err = started.communicate(timeout=300)
    assert started.returncode == 0, err
    assert "2 done, 0 skipped, 0 failed" in err
    events = sweep.events()
    assert sorted(line for line in events if line.startswith("end")) == ["end a-s0", "end b-s0"]
    assert len([line for line in events if line.startswith("start")]) == 3

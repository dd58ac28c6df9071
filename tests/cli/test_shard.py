"""`--shard I/N`: every job in one shard, which stays as the sweep grows."""

import re

import pytest
import yaml

from extrap.cli.sweep.shard import Shard, taken
from extrap.utils.errors import UserError
from tests.support.program import REPOSITORY


def shards(words: list[str], of: int) -> list[int]:
    return [n for n in range(of) if Shard(n, of).holds(words)]


def test_every_job_is_in_one_shard_and_the_jobs_of_a_run_in_the_same():
    jobs = [[f"scheme={scheme}", f"seed={seed}"] for scheme in ("rope", "t5") for seed in range(50)]
    found = [shards(job, 4) for job in jobs]
    assert {len(own) for own in found} == {1} and {n for [n] in found} == {0, 1, 2, 3}
    assert all(Shard(4, 4).holds(job) == Shard(0, 4).holds(job) for job in jobs)
    more = [["extension=yarn", "extension.factor=4", *reversed(job), "task=[kv]"] for job in jobs]
    assert [shards(job, 4) for job in more] == found


@pytest.mark.turns
def test_shards_cover_a_sweep(worker):
    one = worker("-m", "seed=0,1,2,3", "--shard", "1/2")
    assert one.returncode == 0, one.stderr
    first = set(worker.events())
    assert worker("--shard=2/2", "-m", "seed=0,1,2,3").returncode == 0
    second = set(worker.events()) - first
    ends = {f"{what} a-s{seed}" for what in ("start", "end") for seed in range(4)}
    assert first and second and first | second == ends
    listed = worker("-m", "seed=0,1,2,3", "--cfg", "job", "--shard", "1/2").stdout
    assert len(listed.splitlines()) == len(first) // 2


@pytest.mark.parametrize("text", ["", "3", "0/0", "5/4", "-1/4", "a/b", "1/2/3", "1.5/2"])
def test_what_is_no_shard(text):
    with pytest.raises(UserError, match="expected a number and how many there are") as found:
        taken(["-m", "seed=0,1", f"--shard={text}"])
    assert found.value.option == "--shard"


def test_a_second_shard_is_refused():
    for words in (["--shard=1/2", "--shard=2/2"], ["--shard", "1/2", "-m", "--shard", "1/2"]):
        with pytest.raises(UserError, match="a second shard"):
            taken(words)
    assert taken(["-m", "--shard", "1/2", "a=1"]) == (["-m", "a=1"], Shard(1, 2))


def test_a_single_job_has_no_shards(worker):
    done = worker("seed=0", "--shard=1/2")
    line = "extrap: --shard=1/2: this command is a single job; sweep with -m, or leave it out"
    assert (done.returncode, done.stderr.splitlines()) == (2, [line])


def test_the_examples_run_the_same_command_with_a_shard():
    """Each counts as its queue does: Kubernetes and SkyPilot from 0, LSF from 1."""
    folder = REPOSITORY / "examples"
    job = yaml.safe_load((folder / "kubernetes.yaml").read_text())
    task = yaml.safe_load((folder / "skypilot.yaml").read_text())
    lsf = (folder / "lsf.sh").read_text()
    [container] = job["spec"]["template"]["spec"]["containers"]
    assert job["spec"]["completionMode"] == "Indexed"
    assert f"$JOB_COMPLETION_INDEX/{job['spec']['completions']}" in container["command"][-1]
    assert "$SKYPILOT_JOB_RANK/$SKYPILOT_NUM_JOBS" in task["run"]
    assert re.search(r"\[1-(\d+)\]", lsf)[1] in re.search(r"\$LSB_JOBINDEX/(\d+)", lsf)[0]
    shared = "extrap -m scheme=rope,alibi seed=0,1,2 study=mine --shard "
    assert all(shared in text for text in (container["command"][-1], task["run"], lsf))

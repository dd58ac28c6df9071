"""The launcher `local`, with real processes of the tiny program."""

import fcntl
import os
import pty
import signal
import sys

import pytest

from tests.support.program import python, until

TWO = "hydra.launcher.n_jobs=2"


@pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="the number of cores can be narrowed on Linux only"
)
def test_as_many_jobs_as_cores_hold_by_default_and_none_twice(tiny):
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        tiny("-m", "seed=0,0,1")
    finally:
        os.sched_setaffinity(0, before)
    assert tiny.events() == ["start rope-s0", "end rope-s0", "start rope-s1", "end rope-s1"]


@pytest.mark.turns
def test_a_job_that_ends_badly_takes_no_other_down(tiny):
    done = tiny("-m", "act=raise,mistake,exit,kill,skip,senseless,work", TWO)
    assert done.returncode == 1
    assert [line for line in tiny.events() if line.startswith("end")] == ["end rope-s0"]
    *_, counts = (line for line in done.stderr.splitlines() if line.startswith("7 jobs"))
    assert counts.endswith(": 1 done, 2 skipped, 4 failed")
    assert [line for line in done.stderr.splitlines() if line.startswith("  failed")] == [
        "  failed act=raise: RuntimeError: the loss went up",
        "  failed act=mistake: data.corpus.path=/x: gone",
        "  failed act=exit: exit code 3: last words",
        "  failed act=kill: killed by SIGKILL (out of memory?)",
    ]
    senseless = "  skipped act=senseless: act=senseless: makes no sense on scheme=rope"
    assert senseless in done.stderr.splitlines()
    log = done.stderr.splitlines()[-1].strip()
    assert "threads 1" in (tiny.work / log).read_text(encoding="utf-8")


def test_every_mistake_is_told_before_the_first_job_starts(tiny):
    done = tiny("-m", "scheme=rope,ropee", "seed=0,-1,x")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "extrap: seed=-1: must be at least 0",
        "extrap: seed=x: must be a whole number",
        "extrap: scheme=ropee: no such scheme; did you mean rope? choose one of alibi, rope",
    ]
    assert os.listdir(tiny.work) == []


def test_a_sweep_without_any_sense_is_a_mistake(tiny):
    done = tiny("-m", "act=senseless", "scheme=rope,alibi")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        f"extrap: act=senseless: makes no sense on scheme={name}" for name in ("rope", "alibi")
    ]


def test_a_bug_in_a_check_is_no_mistake_of_the_user(tiny):
    done = tiny("-m", "act=work,bug")
    assert done.returncode == 1
    assert "AttributeError: " in done.stderr
    assert done.stderr.splitlines()[-1] == "RuntimeError: a bug met while reading the job act=bug"
    assert tiny.events() == []


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["scheme=glob(z*)"], "extrap: scheme=glob(z*): matches none of alibi, rope"),
        (
            ["seed=range(0,60000)", "scheme=rope,alibi"],
            "extrap: scheme=rope,alibi: more than 100000 jobs in one sweep; give fewer values",
        ),
        (
            ["seed=0,1", "hydra.launcher.n_jobs=x"],
            (
                "extrap: hydra.launcher.n_jobs=x: must be a whole number from 1, or null for "
                "cores // threads"
            ),
        ),
    ],
)
def test_a_sweep_that_makes_no_sense(tiny, words, line):
    done = tiny("-m", *words)
    assert (done.returncode, done.stderr.splitlines()) == (2, [line])


def test_an_experiment_sweeps_by_itself_once_per_job_and_scatters_nothing(tiny):
    done = tiny("experiment=pair", "hydra.launcher.n_jobs=1")
    assert done.returncode == 0, done.stderr
    assert tiny.events() == ["start rope-s0", "end rope-s0", "start rope-s1", "end rope-s1"]
    assert sorted(os.listdir(tiny.work)) == ["events.txt", "runs"]
    names = ["rope-s0-work", "rope-s1-work"]
    assert sorted(os.listdir(tiny.work / "runs")) == [".jobs", *names]
    assert [os.listdir(tiny.work / "runs" / name) for name in names] == [["log.txt"]] * 2


def test_a_single_job_goes_to_no_cluster(tiny):
    """It would train on the login node; a job of a sweep says by its mode that it is one."""
    done = tiny("seed=0", "hydra/launcher=slurm")
    line = "this command is a single job; sweep with -m, or leave it out"
    assert done.stderr.splitlines() == [f"extrap: hydra/launcher=slurm: {line}"]
    assert done.returncode == 2 and tiny.events() == []
    assert tiny("seed=0", "hydra/launcher=slurm", "hydra.mode=RUN").returncode == 0


@pytest.mark.turns
def test_an_option_may_fit_the_choices_of_a_grid_alone(tiny):
    """The default scheme has no slopes."""
    own = "# @package _global_\nsweep: {grid: {scheme: alibi, seed: [0, 1]}}\n"
    (tiny.source / "conf" / "experiment" / "own.yaml").write_text(own)
    done = tiny("experiment=own", "scheme.slopes=4", "hydra.launcher.n_jobs=1")
    assert done.returncode == 0, done.stderr
    assert tiny.events() == [f"{what} alibi-s{n}" for n in (0, 1) for what in ("start", "end")]
    listed = tiny("-m", "experiment=own", "scheme.slopes=4", "--cfg", "job").stdout
    assert listed.count("scheme.slopes=4\n") == 2
    done = tiny("experiment=two_grids", "scheme.slopes=4")
    line = "extrap: scheme.slopes=4: no such option in scheme; choose one of base, name"
    assert (done.returncode, done.stderr.splitlines()) == (2, [line])


@pytest.mark.turns
def test_a_sweep_over_experiments_with_grids_is_refused(tiny):
    """Not each experiment once, without its grid."""
    done = tiny("-m", "experiment=pair,two_grids")
    line = "has a grid of its own, which a job of a sweep cannot sweep; start it by itself, or give"
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        f"extrap: experiment={name}: {line} sweep.grid=null" for name in ("pair", "two_grids")
    ]
    assert tiny("-m", "experiment=pair,two_grids", "sweep.grid=null").returncode == 0
    assert sorted(tiny.events()) == ["end rope-s0", "end rope-s0", "start rope-s0", "start rope-s0"]


@pytest.mark.turns
def test_an_experiment_may_sweep_several_grids(tiny):
    done = tiny("experiment=two_grids", "hydra.launcher.n_jobs=1", "lr=0.3")
    assert [line for line in tiny.events() if line.startswith("end")] == [
        "end rope-s0",
        "end alibi-s0",
        "end alibi-s3",
    ], done.stderr
    assert "2 jobs in" in tiny("experiment=two_grids", "seed=5").stderr, "the last word, and once"


@pytest.mark.turns
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_sweep_lets_its_jobs_finish_cleanly(tiny, number):
    sweep = tiny.start("-m", "seed=0,1,2", "act=hang", TWO)
    until(lambda: " ".join(tiny.events()).count("hold") == 2)
    sweep.send_signal(number)
    _, err = sweep.communicate(timeout=120)
    assert sweep.returncode == 130
    assert err.splitlines()[-1] == "extrap: interrupted; the same command continues"
    assert sorted(line for line in tiny.events() if line.startswith("clean")) == [
        "clean rope-s0",
        "clean rope-s1",
    ]
    assert "start rope-s2" not in tiny.events()


@pytest.mark.skipif(sys.platform != "linux", reason="jobs outlive a killed sweep elsewhere")
def test_jobs_die_with_a_sweep_that_is_killed(tiny):
    sweep = tiny.start("-m", "seed=0,1", "act=hang", TWO)
    until(lambda: " ".join(tiny.events()).count("hold") == 2)
    sweep.kill()
    sweep.communicate(timeout=120)
    for name in ("rope-s0", "rope-s1"):
        with open(tiny.work / f"{name}.lock", encoding="utf-8") as lock:
            fcntl.flock(
                lock, fcntl.LOCK_EX
            )  # returns when the job is gone, and after its minutes of patience if it is not
    assert "clean" not in "".join(tiny.events())


@pytest.mark.turns
def test_on_a_terminal_one_line_is_drawn_over_itself(tiny):
    screen, end = pty.openpty()
    sweep = tiny.start("-m", "act=raise,work", "seed=0", "hydra.launcher.n_jobs=1", stderr=end)
    os.close(end)
    seen = b""
    try:
        while chunk := os.read(screen, 65536):
            seen += chunk
    except OSError:  # how Linux says that nobody holds the other end any more
        pass
    sweep.communicate(timeout=120)
    os.close(screen)
    drawn = [line.split("\x1b[2K") for line in seen.decode().split("\r\n")]
    assert any(text.startswith("0/2 done | act=raise: starting") for text in drawn[0])
    assert drawn[0][-1] == "failed act=raise: RuntimeError: the loss went up"
    assert any(text.startswith("0/2 done, 1 failed | act=work: ") for text in drawn[1])
    assert drawn[1][-1].startswith("2 jobs in ")


def test_jobs_find_a_program_in_the_working_folder(tiny):
    """As `python -m extrap` in a checkout that is not installed."""
    done = python("-m", "tiny", "-m", "scheme=rope", "seed=0,1", cwd=tiny.source)
    assert done.returncode == 0, done.stderr
    assert "2 done, 0 skipped, 0 failed" in done.stderr

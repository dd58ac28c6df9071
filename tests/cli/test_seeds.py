"""Jobs that differ in their seed alone follow one that was read; jobs of committed experiments are
those that Hydra composes.
"""

from collections import defaultdict
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from shutil import copyfile

import pytest
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.types import HydraContext

from extrap.cli import app, config_schema, program
from extrap.cli.apart import find_plugins
from extrap.cli.composed import plain
from extrap.cli.sweep import grid
from extrap.cli.sweep.process import Process, State
from extrap.cli.sweep.seeds import Leader, apart
from extrap.cli.sweep.varied import Varied
from extrap.runs import experiment as runs
from extrap.runs.folder import Named, write_json
from extrap.utils.errors import UserError
from extrap.utils.paths import conf_dir
from tests.support.exceptions import FETCHED
from tests.support.jobs import TINY

EXPERIMENTS = sorted(Path(conf_dir(), "experiment").rglob("*.yaml"))
NAMES = [
    path.relative_to(Path(conf_dir(), "experiment")).with_suffix("").as_posix()
    for path in EXPERIMENTS
    if path.stem not in FETCHED
]


@pytest.fixture
def hydra(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    find_plugins()
    config_schema.register()
    runs._CHECKED.clear()
    with initialize_config_dir(conf_dir(), version_base="1.3"):
        yield GlobalHydra.instance()


def master(*words: str):
    return compose("config", [*words, "hydra.mode=MULTIRUN"], return_hydra_config=True)


@pytest.fixture
def reader(hydra):
    """A launcher that counts the jobs that it prepares."""
    launcher = import_module("hydra_plugins.extrap_local.launcher").LocalLauncher(1, 1)
    prepared = []

    def prepare(composed):
        prepared.append(composed.overrides)
        return program.prepare(composed)

    context = HydraContext(hydra.config_loader(), None)
    task = app.Program(prepare)
    launcher.setup(hydra_context=context, task_function=task, config=master(*TINY, "study=s"))
    launcher.prepared = prepared
    return launcher


def seeds(scheme: str, *given: object) -> list[list[str]]:
    return [[*TINY, f"scheme={scheme}", f"seed={seed}"] for seed in given]


def test_jobs_of_other_seeds_follow_one_that_was_read(reader):
    batch = [*seeds("rope", *range(12)), *seeds("alibi", *range(12))]
    batch += [[*words, "finetune=full", "finetune.factor=2"] for words in seeds("rope", 0, 1)]
    found = reader.jobs(batch)
    assert len(reader.prepared) == 5, "a seed of more digits has a longer name, and is read"
    alone = [reader.jobs([words])[0] for words in batch]
    assert len(reader.prepared) == 5 + len(batch)
    assert found == alone
    assert {job.save_minutes for job in found} == {10.0}
    assert [job.entry.parent for job in found[-2:]] == [job.entry.run for job in found[:2]]


def test_a_finished_or_trained_job_leads_no_unchecked_one(reader, monkeypatch):
    [first] = reader.jobs([[*words, "stage=train"] for words in seeds("rope", 0)])
    checked = []
    monkeypatch.setattr(runs.Experiment, "check", lambda one: checked.append(one.job.run.seed))
    folder = Named(first.entry.run)
    folder.folder.mkdir(parents=True)
    folder.weights.write_bytes(b"weights")
    state = {"schema": 2, "state": "trained", "steps": 8, "files": {}}
    write_json(folder.folder / "state.json", state)
    for stage, states in (("train", "skipped waiting waiting"), ("all", "waiting " * 3)):
        checked.clear()
        found = reader.jobs([[*words, f"stage={stage}"] for words in seeds("rope", 0, 1, 2)])
        assert [job.state for job in found] == [State(state) for state in states.split()]
        assert checked == ([1] if stage == "train" else [0, 1])


def test_choices_of_equal_options_are_jobs_of_their_own(reader, hydra, tmp_path):
    """A copy of a file under another name is another series; the same words twice are one job."""
    for group, name, copy in (("scheme", "alibi", "mine"), ("data", "text", "my-text")):
        (tmp_path / group).mkdir()
        copyfile(Path(conf_dir(), group, f"{name}.yaml"), tmp_path / group / f"{copy}.yaml")
    words = [*TINY[:-4], "study=s", "task=[nll]", f"hydra.searchpath=['file://{tmp_path}']"]
    context = HydraContext(hydra.config_loader(), None)
    reader.setup(hydra_context=context, task_function=reader.program, config=master(*words))
    batch = [[*words, f"scheme={s}", f"seed={n}"] for s in ("alibi", "mine") for n in (0, 1, 1)]
    runs = [job.entry.run for job in reader.jobs(batch)]
    assert [run.split("-")[0] for run in runs] == ["alibi", "alibi", "mine", "mine"]
    assert len(reader.jobs([[*words, f"data={name}"] for name in ("text", "my-text", "text")])) == 2


def test_seeds_that_nobody_follows(reader):
    for words in (["seed=007"], ["seed=-1"], ["seed=1", "seed=2"], ["+seed=1"], ["seed=1.0"], []):
        assert apart(words)[1] is None
    assert apart(["a=1", "seed=3"]) == (("a=1",), 3)
    with pytest.raises(UserError) as error:
        reader.jobs(seeds("rope", 0, -1, "x", 1))
    assert str(error.value) == (
        "seed=-1: a whole number from 0 to 4294967295\nseed=x: must be a whole number"
    )
    reader.prepared.clear()
    found = reader.jobs([[*words, "label=a${seed}"] for words in seeds("rope", 0, 1, 2)])
    assert len(reader.prepared) == 3 and len({job.entry.run for job in found}) == 3


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", NAMES)
def test_jobs_of_experiments_are_those_that_hydra_composes(name, hydra):
    """The last job of the first kind and of the last: its configuration, and its place if it
    follows the first job.
    """
    words = (f"experiment={name}", "accept_rows=false")  # with it no job follows another
    whole = master(*words)
    loader = hydra.config_loader()
    varied = Varied(loader, whole, plain)
    kinds = defaultdict(list)
    for one in jobs_of(words, whole, loader):
        kind = varied._kind(one)
        kinds[kind and kind.words].append(one)
    kinds.pop(None, None)  # of jobs that are composed by themselves
    for batch in [*kinds.values()][:: max(1, len(kinds) - 1)]:
        first = varied(batch[0])
        composed = plain(loader.load_sweep_config(whole, batch[-1]))
        assert repr(varied(batch[-1])) == repr(composed)
        others, seed = apart(batch[0])
        alike = [one for one in batch[1:] if apart(one)[0] == others]
        if seed is not None and alike:
            composed = plain(loader.load_sweep_config(whole, alike[-1]))
            assert_follows(first, composed, seed, apart(alike[-1])[1])


def jobs_of(words: Sequence[str], whole, loader) -> list[list[str]]:
    sweeper = import_module("hydra_plugins.extrap_local.sweeper").LocalSweeper()
    sweeper.loader = loader
    parser = OverridesParser.create(config_loader=loader)
    grids = [parser.parse_overrides(own) for own in grid.overrides(grid.selected(whole, "grid"))]
    typed = parser.parse_overrides([*words])
    return [job for words in grid.chosen(grids, typed) for job in sweeper._jobs(words)]


def assert_follows(first, composed, seed: int, other: int) -> None:
    try:
        work = program.prepare(first)
        job = Process("", [], work.entry(""))
    except UserError:  # a text or a checkpoint that is not here
        return
    follower = Leader(job, seed, "", work.run_of, True).follower(other)
    assert follower is not None
    assert follower.entry == program.prepare(composed).entry("")

"""What a person sees after a mistake on the command line: one line on stderr, and exit code 2."""

import importlib.util
import os
import sys
from collections.abc import Callable

import pytest

from extrap.cli.app import main
from extrap.cli.shared import reported
from extrap.utils.errors import UserError, printable
from tests.support.program import Program

TABLE = {
    "scheme=ropee": "scheme=ropee: no such scheme; did you mean rope? choose one of alibi, rope",
    "scheme=": "scheme=: no such scheme; choose one of alibi, rope",
    "data/corpus=fils": (
        "data/corpus=fils: no such corpus; did you mean files? choose one of files, torch"
    ),
    "data/crpus=files": (
        "data/crpus=files: no such group; did you mean data/corpus? choose one of data, "
        "data/corpus, experiment, scheme"
    ),
    "data.corpus=files": (
        "data.corpus=files: data/corpus is a choice of files; write data/corpus=files"
    ),
    "experiment=pear": (
        "experiment=pear: no such experiment; did you mean pair? choose one of broken, kind, "
        "pair, two_grids, typo"
    ),
    "scheme=null": "scheme=null: scheme takes the name of a choice; `extrap --help` lists them",
    "scheme=3": "scheme=3: scheme takes the name of a choice; `extrap --help` lists them",
    "scheme.bse=1": (
        "scheme.bse=1: no such option in scheme; did you mean base? choose one of base, name"
    ),
    "scheme.base.x=1": "scheme.base.x=1: scheme.base has no options inside",
    "sed=1": (
        "sed=1: no such option; did you mean seed? choose one of act, data, flag, lr, meet, name, "
        "scheme, seed, sweep, threads"
    ),
    "hydra.launcher.jobs=3": (
        "hydra.launcher.jobs=3: no such option in hydra.launcher; did you mean n_jobs? choose one "
        "of n_jobs"
    ),
    "seed=x": "seed=x: must be a whole number",
    "seed=1.5": "seed=1.5: must be a whole number",
    "seed=[1,2]": "seed=[1,2]: must be a whole number",
    "seed=null": "seed=null: must not be empty",
    "lr=x": "lr=x: must be a number",
    "flag=x": "flag=x: must be true or false",
    "stage=all": (
        "stage=all: no such option; choose one of act, data, flag, lr, meet, name, scheme, seed, "
        "sweep, threads"
    ),
    "+seed=1": "+seed=1: this option exists; write seed=1",
    "seed=-1": "seed=-1: must be at least 0",
    "act=senseless": "act=senseless: makes no sense on scheme=rope; work does",
    "data/corpus=files": "data.corpus.path=???: needs a value; give data.corpus.path=...",
    "scheme.base=${nope}": "scheme.base: Interpolation key 'nope' not found",
    "scheme=rope,alibi": ("scheme=rope,alibi: several values make a sweep; add -m"),
    "seed=range(0,3)": "seed=range(0,3): several values make a sweep; add -m",
    "rope": "rope: not of the form option=value; see extrap --help",
    "scheme=[": "scheme=[: no such scheme; choose one of alibi, rope",
    "--sheme": "unrecognized arguments: --sheme; see extrap --help",
    "--cfg=jb": (
        "argument --cfg/-c: invalid choice: 'jb' (choose from 'job', 'hydra', 'all'); see extrap "
        "--help"
    ),
    "experiment=typo": "experiment/typo.yaml: lrr: no such option; "
    "did you mean lr? choose one of act, data, flag, lr, meet, name, scheme, seed, sweep, threads",
    "experiment=kind": "experiment/kind.yaml: seed=x: must be a whole number",
}


def here(tiny: Program, monkeypatch: pytest.MonkeyPatch, *words: str) -> None:
    """The tiny program in this process, which is faster than a fresh one."""
    experiment = tiny.source / "conf" / "experiment"
    (experiment / "broken.yaml").write_text("seed: [\n", encoding="utf-8")
    (experiment / "typo.yaml").write_text("# @package _global_\nlrr: 3\n", encoding="utf-8")
    (experiment / "kind.yaml").write_text("# @package _global_\nseed: x\n", encoding="utf-8")
    spec = importlib.util.spec_from_file_location("tiny", tiny.source / "tiny.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.chdir(tiny.work)
    monkeypatch.setattr(sys, "argv", ["tiny", *words, "hydra/job_logging=none"])
    monkeypatch.setattr(sys, "path", list(sys.path))
    for variable in ("HYDRA_FULL_ERROR", "OMP_NUM_THREADS"):
        monkeypatch.setenv(variable, os.environ.get(variable, "1"))
    main(module.program())


@pytest.mark.parametrize("word", TABLE)
def test_a_mistake_is_one_line(
    word: str, tiny: Program, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        here(tiny, monkeypatch, word)
    assert capsys.readouterr() == ("", f"extrap: {TABLE[word]}\n")
    assert end.value.code == 2
    assert os.listdir(tiny.work) == []


def test_a_file_that_is_not_yaml_is_named(
    tiny: Program, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        here(tiny, monkeypatch, "experiment=broken")
    assert "conf/experiment/broken.yaml: line 2 is not YAML: " in capsys.readouterr().err


def test_no_mistake_no_word(tiny: Program) -> None:
    done = tiny("seed=1", "scheme=alibi")
    assert (done.returncode, tiny.events()) == (0, ["start alibi-s1", "end alibi-s1"])
    assert done.stdout == "threads 1, heavy modules []\n"
    assert os.listdir(tiny.work) == ["events.txt"]


def test_a_bug_has_its_traceback(tiny: Program) -> None:
    done = tiny("seed=1", "act=raise")
    assert done.returncode == 1
    assert done.stderr.startswith("Traceback")
    assert done.stderr.endswith("RuntimeError: the loss went up\n")


def test_exit_codes_of_a_program_are_its_own(tiny: Program) -> None:
    assert tiny("seed=1", "act=exit").returncode == 3


def like_lightning() -> None:
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        sys.exit(1)


def by_hand() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("interrupt", [by_hand, like_lightning])
def test_interruption_is_one_line_through_both_frames(
    interrupt: Callable[[], None], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end, reported(), reported():
        interrupt()
    assert end.value.code == 130
    assert capsys.readouterr().err == "extrap: interrupted; the same command continues\n"


def test_a_user_error_of_several_lines_keeps_them(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit), reported():
        raise UserError("a=1: wrong\nb=2: wrong")
    assert capsys.readouterr().err == "extrap: a=1: wrong\nextrap: b=2: wrong\n"


def test_finished_work_is_not_checked(tiny: Program) -> None:
    (tiny.work / "rope-s-1.done").touch()
    assert tiny("seed=-1").returncode == 0


def test_a_word_of_fifty_thousand_letters_is_cut() -> None:
    assert printable(f"label={'a' * 50_000}: letters") == f"label={'a' * 54}... letters"
    assert printable("/".join(["folder"] * 100)) == "/".join(["folder"] * 100)

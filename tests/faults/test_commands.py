"""Commands with a mistake: exit code 2, one line on stderr, nothing on stdout, nothing written or
lost. messages.txt holds the lines.

Mistakes in options of a configuration: tests/faults/test_bad_input.py.
"""

import shlex

import pytest

from extrap.cli.commands import COMMANDS as NAMES
from extrap.results import rows
from tests.faults.command import whole
from tests.faults.golden import table
from tests.support.plausible import run_rows
from tests.support.program import python

COMMANDS = table("""
extrap plo good -> plo
extrap -m seed=0,1 data/corpus=files data.corpus.path=loop -> data.corpus.path
extrap plot -> STUDY
extrap plot nowhere -> STUDY
extrap plot early -> STUDY
extrap plot bare -> STUDY
extrap plot good nll_curv -> FIGURE
extrap plot good kv_seeds -> kv_seeds
extrap plot bare training_curves -> training_curves
extrap compare good rope -> SERIES
extrap compare good rope ropee -> SERIES
extrap compare good rope alibi --cell 'kv records' --cell 'kv 7' -> --cell
extrap findings nowhere -> STUDY
extrap findings --write -> results/README.md
extrap findings nope --write -> STUDY
extrap plot good --series rope,rope -> --series
extrap plot good --lengths 1,1.0 -> --lengths
extrap status nowhere -> STUDY
extrap clean good -> nothing to remove
extrap clean good nothing --rows --yes -> RUN
extrap audit ropee -> SCHEME
extrap layers seed=0,1 -> seed
extrap longrope scheme=rope -> extension
extrap export nothing out -> RUN
extrap dashboard good --share -> --share
""")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("work")
    for name in ("rope", "alibi"):
        own = [r | {"study": "good"} for r in run_rows(name)]
        rows.write(made / f"results/good/rows/{own[0]['run']}__direct__nll.csv", own)
    rows.write(made / "results/early/rows/a.csv", [])
    bare = [r for r in run_rows("rope") if r["metric"] == "steps_to_90"]
    rows.write(made / "results/bare/rows/a.csv", [r | {"study": "bare"} for r in bare])
    (made / "loop").symlink_to("loop")
    return made


@pytest.mark.sample(12)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_mistake_in_a_command(command, folder, check, monkeypatch):
    monkeypatch.chdir(folder)
    _, *words = shlex.split(command)
    program = " ".join(["extrap", *[w for w in words[:1] if w in NAMES]])
    check(lambda: whole(words, monkeypatch), command, COMMANDS[command], program)


def test_a_process_ends_with_the_line_and_the_code(folder):
    for words in (["scheme=ropee"], ["plot", "nowhere"]):
        done = python("-m", "extrap", *words, cwd=folder)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr

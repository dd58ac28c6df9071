"""The commands of the READMEs: those about sweeps, W&B and figures are run, on jobs small enough
for a test; all others are composed or have their options looked up.
"""

import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest

from extrap.cli.commands import COMMANDS, module
from extrap.model.parts import card
from extrap.model.scheme import Shape
from extrap.results.rows import read
from extrap.runs.dashboard import WandB
from extrap.runs.evaluate import measured
from tests.support.jobs import TINY, job
from tests.support.program import typed

ROOT = Path(__file__).parents[2]
FOLDERS = ("extrap", "conf", "results", "benchmarks")
READMES = [
    *ROOT.glob("*.md"),
    *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.md")),
]

RUN = [
    "extrap -m scheme=rope,alibi study=mine",
    "extrap status mine",
    "extrap status",
    "extrap -m scheme=rope,alibi study=mine hydra.launcher.n_jobs=1",
    (
        "extrap -m scheme=rope,alibi study=mine hydra/launcher=slurm hydra.launcher.partition=gpu "
        "hydra.launcher.account=me"
    ),
    "extrap -m scheme=rope,alibi study=mine logger.mode=online",
    "extrap plot mine kv_depth loss_length",
    "extrap table mine",
    "extrap dashboard mine",
    "extrap dashboard mine --online --workspace --report",
    "extrap clean mine --runs --state failed",
]
"""In this order: the first makes the study, the other sweeps over it find nothing left to do."""

ELSEWHERE = ["wandb sync --yes -n 8", "wandb leet ./wandb"]
"""What needs a server, or a terminal."""


def start(line: str, monkeypatch: pytest.MonkeyPatch, more: list[str]) -> None:
    _, *words = shlex.split(line)
    typed(monkeypatch, *words, *([] if words[0] in COMMANDS else more))


@pytest.mark.subprocess
@pytest.mark.filterwarnings("ignore:Pydantic V1 style:DeprecationWarning")  # of wandb_workspaces
def test_commands_run(elsewhere, monkeypatch, capsys):
    # takes seconds for each page, and extrap plot draws below
    monkeypatch.setattr(WandB, "draw", lambda *_: None)
    said = {}
    for line in RUN:
        start(line, monkeypatch, TINY[1:] if "logger" in line else TINY)
        said[line] = capsys.readouterr()
    sweeps = [said[line].err.splitlines()[-1] for line in RUN if " -m " in line]
    assert [re.sub(r"in \d+:\d+", "in", line) for line in sweeps] == [
        "2 jobs in: 2 done, 0 skipped, 0 failed",
        *["2 jobs in: 0 done, 2 skipped, 0 failed"] * 3,
    ]
    assert said["extrap status mine"].out.startswith("study mine: 2 jobs: 2 ")
    assert said["extrap status"].out.startswith("mine  2 jobs: 2 ")
    assert len(said["extrap plot mine kv_depth loss_length"].out.split()) == 4
    dashboard = said["extrap dashboard mine --online --workspace --report"]
    assert "going on offline" in dashboard.err
    written = ["wandb/workspace-mine.json", "wandb/report-mine.json"]
    assert dashboard.out.splitlines()[-2:] == written
    assert (
        said["extrap clean mine --runs --state failed"].err == "extrap clean: nothing to remove\n"
    )


def commands() -> list[str]:
    """Every line of a code block of every README that starts one of our programs, once."""
    found = []
    for readme in sorted(path for path in READMES if ".venv" not in path.parts):
        for block in re.findall(r"^```\w*\n(.*?)^```", readme.read_text(), re.M | re.S):
            lines = (line for line in block.splitlines() if line.startswith("extrap "))
            found += [shlex.join(shlex.split(line, comments=True)) for line in lines]
    return list(dict.fromkeys(found))


def small(line: str) -> bool:
    return len(line.split()) > 1 and line.split()[1] in COMMANDS


def test_the_front_page_counts_what_conf_holds():
    """`direct` is no extension."""
    schemes, extensions = (len([*ROOT.glob(f"conf/{g}/*.yaml")]) for g in ("scheme", "extension"))
    said = f"It knows {schemes} schemes and {extensions - 1} extensions"
    assert said in " ".join((ROOT / "README.md").read_text().split())


def test_readmes_hold_commands():
    assert len(commands()) > 30
    text = "\n".join(path.read_text() for path in READMES)
    assert all(line in text for line in (*RUN, *ELSEWHERE)), "run here and shown nowhere"


@pytest.mark.sample(15)
@pytest.mark.parametrize(
    "line", [line for line in commands() if line.startswith("extrap ") and not small(line)]
)
def test_every_configuration_of_a_readme_composes(line, elsewhere, monkeypatch, capsys):
    """Of a sweep the first of its values."""
    words = [word for word in shlex.split(line)[1:] if word != "-m" and "glob(" not in word]
    if "--config-dir" in words:
        return  # tests/cli/test_plugins.py
    first = [word if "[" in word else word.split(",")[0] for word in words]
    start(shlex.join(["extrap", *first]), monkeypatch, ["--cfg", "job"])
    assert "scheme:" in capsys.readouterr().out


@pytest.mark.parametrize("line", [line for line in commands() if small(line)])
def test_every_command_of_a_readme_has_its_options(line, capsys):
    _, name, *words = shlex.split(line)
    with pytest.raises(SystemExit):
        import_module(module(name)).main(["--help"])
    options = [word.split("=")[0] for word in words if word.startswith("--")]
    known = re.findall(r"(?<![\w-])--[a-z][a-z-]*", capsys.readouterr().out)
    assert {*options} <= {*known}


def test_every_target_of_a_readme_is_made():
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    text = "\n".join(path.read_text() for path in READMES)
    assert set(re.findall(r"(?:^|`)make ([a-z][a-z-]*)", text, re.MULTILINE)) <= targets


def test_links_lead_somewhere():
    for readme in READMES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", readme.read_text()):
            assert (readme.parent / target).exists(), f"{readme}: {target}"


def test_the_command_that_repeats_rows_makes_committed_ones():
    """The bits themselves take minutes; that the line names rows that are here takes none."""
    text = (ROOT / "results" / "REPEAT.md").read_text()
    (line,) = re.findall(r"^extrap (study=zoo .*)$", text, re.MULTILINE)
    this = job(*shlex.split(line), tiny=())
    assert measured(this)
    rows = read(this.results)
    assert rows.loc[rows["run"] == this.run.name, "task"].nunique() == 3


@pytest.mark.parametrize("path", READMES, ids=lambda path: str(path.relative_to(ROOT)))
def test_blocks_of_python_can_be_read(path: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", path.read_text(), re.S | re.M)
    assert all(compile(block, path.name, "exec") for block in blocks)


def test_the_class_of_the_first_page_has_a_card():
    """Without one, `extrap judge` tells of a broken contract."""
    blocks = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.S | re.M)
    (block,) = [block for block in blocks if "class Tilt" in block]
    names = {"__name__": __name__}
    exec(block, names)
    assert card(names["Tilt"](Shape(dim=32, heads=4)))["Kind"] == "relative"

"""Questions about the program are answered at once: without torch."""

from dataclasses import fields
from pathlib import Path

import pytest

from extrap.cli.commands import COMMANDS
from extrap.cli.config_schema import Config
from extrap.runs.training.optim import Optim
from extrap.utils.errors import shown
from tests.support.program import python

TOP = Path(__file__).parents[2]
HELP = TOP / "conf/hydra/help/extrap.yaml"
HEAVY = ["torch", "lightning", "wandb", "datasets", "matplotlib", "pandas"]

SCRIPT = f"""
import sys
from extrap.cli.commands import main
try:
    main()
except SystemExit as end:
    code = end.code
else:
    code = 0
sys.stderr.write(f"{{code}} {{[name for name in {HEAVY} if name in sys.modules]}}")
"""


def ask(folder: Path, *words: str) -> tuple[str, str]:
    done = python("-c", SCRIPT, *words, cwd=folder)
    return done.stdout, done.stderr


@pytest.mark.turns
@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["--help"], "extrap -m scheme=rope,alibi seed=0,1,2"),
        (["--hydra-help"], "hydra/launcher"),
        (["--cfg", "job"], "seed: 0"),
    ],
)
def test_help_imports_no_torch(tmp_path, words, shown):
    out, err = ask(tmp_path, *words)
    assert shown in out
    assert err == "0 []"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.turns
def test_a_command_imports_no_more_than_it_needs(tmp_path):
    script = SCRIPT.replace(str(HEAVY), str(["torch", "hydra", "lightning", "wandb"]))
    for words in (["status"], ["plot", "--list"], ["table", "--help"], ["compare", "--help"]):
        done = python("-c", script, *words, cwd=tmp_path)
        assert done.stdout and done.stderr == "0 []"


def test_help_names_every_group_with_its_options(tmp_path):
    out, _ = ask(tmp_path, "--help")
    for group in ("scheme", "data", "data/corpus", "model", "experiment", "experiment/reference"):
        names = sorted(file.stem for file in (TOP / "conf" / group).glob("*.yaml"))
        assert f"{group}: {', '.join(names)}" in out.splitlines()


def test_the_package_is_light_until_a_plug_in_asks_for_a_class():
    script = (
        f"import sys, extrap; print([n for n in {[*HEAVY, 'hydra']} if n in sys.modules]); "
        "from extrap import *; "
        "print(all(name in globals() for name in extrap.__all__))"
    )
    assert python("-c", script).stdout.splitlines() == ["[]", "True"]


def test_help_names_every_option_and_every_other_command():
    """In the words of the table of extrap/cli/README.md, which has the same programs."""
    text, table = HELP.read_text(), (TOP / "extrap/cli/README.md").read_text()
    groups = {path.name for path in (TOP / "conf").iterdir() if path.is_dir()} | {"train", "sweep"}
    for one in fields(Config):
        value = [] if one.name == "plugins" else getattr(one.default, "value", one.default)
        assert one.name in groups or f"\n    {one.name}={shown(value)} " in text
    flat = " ".join(text.split())
    assert all(f" {one.name}={shown(one.default)}" in flat for one in fields(Optim))
    assert all(f"\n| `extrap {name}` | " in table for name in COMMANDS)
    assert all(f"\n    extrap {name} " in text for name in COMMANDS)


def test_help_lists_choices_of_ones_own(tmp_path):
    (tmp_path / "scheme").mkdir()
    (tmp_path / "scheme/mine.yaml").touch()
    out, _ = ask(tmp_path, "--help", "--config-dir", str(tmp_path))
    [line] = [line for line in out.splitlines() if line.startswith("scheme: ")]
    assert {"mine", "rope"} <= {*line.removeprefix("scheme: ").split(", ")}
    assert not any(line.startswith("hydra") for line in out.splitlines())

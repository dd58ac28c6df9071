"""What the small commands share stands in one parser, and each has it."""

import importlib

import pytest

from extrap.cli.commands import COMMANDS, module

SMALL = sorted(COMMANDS)


@pytest.mark.parametrize("name", SMALL)
def test_help_says_what_it_does_and_how_it_ends(name, capsys):
    command = importlib.import_module(module(name))
    with pytest.raises(SystemExit, match="0"):
        command.main(["--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert shown.startswith(f"usage: extrap {name} ") and "Exit codes: 0 done; 2 a mistake" in shown


@pytest.mark.parametrize("name", SMALL)
def test_an_unknown_flag_is_one_line(name, capsys):
    command = importlib.import_module(module(name))
    with pytest.raises(SystemExit, match="2"):
        command.main(["--no-such-flag"])
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"extrap {name}: ") and line.endswith(f"; see extrap {name} --help")


def test_options_may_stand_between_names(capsys):
    for name, words in {
        "plot": ["mine", "--width", "3.3in", "kv_depth"],
        "clean": ["mine", "--runs", "rope-1-s0"],
        "compare": ["mine", "--cell", "kv", "rope", "alibi"],
    }.items():
        command = importlib.import_module(module(name))
        with pytest.raises(SystemExit, match="2"):
            command.main(words)
        assert "STUDY=mine: no such study" in capsys.readouterr().err


def test_a_run_is_optional(capsys):
    command = importlib.import_module("extrap.cli.clean")
    with pytest.raises(SystemExit, match="2"):
        command.main(["--runs"])
    assert "required: STUDY;" in capsys.readouterr().err

"""Hints of `extrap-plot` for studies of many kinds: right for the study, few, and composable."""

import shlex

import pandas as pd
import pytest

from extrap import figures
from extrap.cli import plot_hints
from tests.contracts.test_hints import combinations
from tests.support import jobs

KNOWN = figures.available()


def study(*runs: tuple[str, str, str, int]) -> pd.DataFrame:
    """Rows of (task, data, scheme, training length), as far as hints look at them."""
    names = ["task", "data", "scheme", "train_length"]
    return pd.DataFrame(list(runs), columns=names).assign(study="mine")


def given(rows: pd.DataFrame) -> dict[str, str]:
    """{figure: command}"""
    lines = plot_hints.hints(KNOWN, list(KNOWN), rows)
    return {line.partition(":")[0]: line.split("`")[1] for line in lines}


STUDIES = {
    "one scheme": [("kv", "mixture", "rope", 64), ("nll", "mixture", "rope", 64)],
    "other data": [("kv", "suite", "rope", 64), ("kv", "suite", "t5", 64)],
    "shorter windows": [("kv", "tasks", "rope", 40)],
    "half the windows": [("kv", "retrieval", "rope", 32)],
    "without rope": [("kv", "mixture", "alibi", 64), ("nll", "mixture", "alibi", 64)],
    "with controls": [("kv", data, "rope", 64) for data in ("text", "retrieval", "mixture")],
}


@pytest.mark.parametrize("name", STUDIES)
def test_every_hint_composes_for_the_study(name: str) -> None:
    rows = study(*STUDIES[name])
    commands = given(rows)
    assert 0 < len(commands) <= plot_hints.MOST
    for figure, command in list(commands.items())[:2]:
        program, *words = shlex.split(command)
        assert program == "extrap" and ("-m" in words) == any("," in word for word in words)
        *_, last = combinations([word for word in words if word != "-m"])
        job = jobs.job(*last, tiny=["logger=none"])
        assert (job.study, job.choices["data"] in set(rows["data"])) == ("mine", True)
        assert KNOWN[figure].NEEDS["task"] in job.tasks and job.extension is not None
        assert job.source.length in set(rows["train_length"]) or "data.length=" in command
        assert job.choices["scheme"] in set(rows["scheme"])


def test_a_hint_has_the_data_the_length_and_the_scheme_of_the_study() -> None:
    def seeds(name: str) -> str:
        return given(study(*STUDIES[name]))["kv_seeds"]

    assert seeds("one scheme") == "extrap study=mine task=kv seed=0,1,2 -m"
    assert seeds("other data") == "extrap study=mine data=suite task=kv seed=0,1,2 -m"
    assert seeds("shorter windows") == "extrap study=mine data=tasks task=kv seed=0,1,2 -m"
    assert seeds("half the windows").startswith("extrap study=mine data=retrieval data.length=32 ")
    assert seeds("without rope") == "extrap study=mine scheme=alibi task=kv seed=0,1,2 -m"
    assert seeds("with controls") == "extrap study=mine task=kv seed=0,1,2 -m"


@pytest.mark.parametrize(
    ("figure", "rows"),
    [
        ("kv_seeds", study(("nll", "mixture", "rope", 64))),  # a task that was never asked
        ("tuning", study(("train", "mixture", "rope", 64))),  # of training alone
        ("influence", study(("diagnostics", "mixture", "rope", 64))),  # would be skipped
        ("kv_query_depth", study(("kv-query", "suite", "rope", 64))),  # other data
        ("retrieval_methods", study(("kv", "mixture", "alibi", 64))),  # no such extension of it
        ("kv_seeds", study(("kv", "mixture", "my-label", 64))),  # a scheme nobody can name
        ("kv_seeds", study(("kv", "text", "rope", 64))),  # a control that never saw it
        ("kv_seeds", study(("kv", "mixture", "rope", 128))),  # needs more keys, too
    ],
)
def test_a_hint_that_would_be_no_use_is_not_given(figure: str, rows: pd.DataFrame) -> None:
    assert figure in KNOWN and not figures.command(KNOWN[figure], "mine").count(" task=") > 1
    assert figure not in given(rows)


def test_no_command_names_its_task_twice() -> None:
    assert all(figures.command(one, "s").count(" task=") <= 1 for one in KNOWN.values())

"""Drawn input: whatever is in a file or a configuration, it is read, or refused in one line by a
UserError; nothing else comes out.
"""

from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_dir
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from extrap.cli import config_schema
from extrap.cli.composed import plain
from extrap.cli.hydra_errors import explain
from extrap.cli.program import job
from extrap.data.corpora.reader import json_rows
from extrap.results import rows
from extrap.utils.errors import UserError
from extrap.utils.paths import conf_dir
from tests.faults import cases_runs

SOME = settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
FEW = settings(SOME, max_examples=80)


def one_line(error: UserError, named: str) -> None:
    assert named in str(error) and len(str(error).splitlines()) == 1


@pytest.fixture
def sheet(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows").mkdir()
    return cases_runs.sheet()


def read_or_refused(content: bytes) -> bool:
    """Whether it is rows with every column, or one line that names the file."""
    Path("rows/a.csv").write_bytes(content)
    try:
        return list(rows.read(Path()).columns) == [*rows.COLUMNS, rows.MULTIPLE]
    except UserError as error:
        return "rows/a.csv" in str(error) and len(str(error).splitlines()) == 1


@SOME
@given(st.data())
def test_rows_with_changed_bytes(sheet, data):
    """Cut, overwritten and filled with others at a place that is drawn."""
    start = data.draw(st.integers(0, len(sheet)))
    stop = data.draw(st.integers(start, min(start + 40, len(sheet))))
    assert read_or_refused(sheet[:start] + data.draw(st.binary(max_size=20)) + sheet[stop:])


CELLS = st.text(max_size=8) | st.integers().map(str) | st.floats().map(str)
CELLS |= st.sampled_from(["1e999", "-0", "0x1", "1_0", "٣", "inf", "ok"])


@SOME
@given(st.data())
def test_rows_with_one_drawn_cell(sheet, data):
    """The rest is as it should be, so that the cell itself is looked at."""
    header, first, *_ = sheet.decode().splitlines()
    cells = first.split(",")
    cells[data.draw(st.integers(0, len(cells) - 1))] = data.draw(CELLS)
    assert read_or_refused(f"{header}\n{','.join(cells)}\n".encode("utf-8", "replace"))


JSON_LIKE = st.text(alphabet='[]{}"\\,:a1\n', max_size=300).map(str.encode)


@FEW
@given(st.binary(max_size=200) | JSON_LIKE | st.integers(0, 2000).map(lambda n: b"[" * n))
def test_json_is_records_or_one_line_whatever_the_file_holds(tmp_path, content):
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    try:
        found = list(json_rows(path))
    except UserError as error:
        one_line(error, f"data.corpus.path={path}:")
    else:
        assert all(place.startswith(f"{path}:") for place, _ in found)
        assert len(found) <= max(content.count(b"\n") + 1, content.count(b",") + 1)


NUMBERS = st.integers() | st.floats() | st.sampled_from([0, 1, -1, 64, 0.5, 2**40])
PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | NUMBERS
    | st.text(max_size=6)
    | st.sampled_from(["rope", "os.system", "extrap.schemes.rope.RoPE"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["_target_", "size", "x", "a.b"]), inner, max_size=2)
    ),
    max_leaves=4,
)


@cache
def base() -> Any:
    tasks = "task=[nll,kv,kv-query,kv-wide,multidoc,haystack,repeat,algorithmic]"
    words = ["data=suite", tasks, "logger=none", "finetune=lora", "extension=yarn"]
    config_schema.register()
    with initialize_config_dir(conf_dir(), version_base="1.3"):
        return compose("config", words, return_hydra_config=True)


@cache
def options() -> list[str]:
    """Every option, and every node, of a configuration of many parts."""

    plain = OmegaConf.to_container(base(), resolve=False)
    kept = {name: node for name, node in plain.items() if name != "hydra"}
    kept["data"] = {name: node for name, node in plain["data"].items() if name != "corpus"}
    return list(_below(kept))


def _below(node: Any, path: str = "") -> Iterator[str]:
    for name, value in node.items() if isinstance(node, dict) else ():
        yield f"{path}{name}"
        yield from _below(value, f"{path}{name}.")


@FEW
@given(st.data())
def test_options_of_any_value(corpus_path, data):
    """One or two options of a whole configuration get a drawn value."""
    cfg = deepcopy(base())
    cfg.data.corpus = {"_target_": "extrap.data.corpora.files.Files", "path": corpus_path}
    OmegaConf.set_struct(cfg, False)
    changed = {
        data.draw(st.sampled_from(options())): data.draw(PLAIN)
        for _ in range(data.draw(st.integers(1, 2)))
    }
    try:
        for name, value in changed.items():
            if not any(
                name.startswith(f"{other}.") for other in changed
            ):  # what is replaced as a whole has no options left
                OmegaConf.update(cfg, name, value, merge=False)
        this = job(plain(cfg))
        _ = (
            *(training.optim for training in this.trainings),
            this.source.mixture,
            this.source.shape,
            this.source.trainer,
            this.tasks,
        )
    except UserError as error:
        said = str(error)
    except OmegaConfBaseException as error:
        said = explain(error, [], conf_dir()) or ""
    else:
        return
    assert said and (
        len(said.split("\n")) == 1 or any("\n" in str(value) for value in changed.values())
    )


@pytest.fixture(scope="module")
def corpus_path(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text("some text\n" * 9000)
    return str(path)

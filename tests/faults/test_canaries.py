"""Files from strangers: code that is planted in any of them never runs, and nothing is written
outside runs and studies.
"""

import csv
import io
import json
import os
import pickle
from pathlib import Path

import pytest
import torch

from extrap.cli.plot import main as plot
from extrap.cli.status import main as status
from extrap.data.corpora.files import Files
from extrap.model.scheme import Scheme
from extrap.runs import train
from extrap.runs.build import build
from extrap.runs.dashboard.study import read
from extrap.runs.evaluate import trained_model
from extrap.runs.folder import read_json, write_json
from extrap.runs.training import trainer as resume
from extrap.utils.errors import UserError
from tests.faults import planted
from tests.faults.planted import Code
from tests.runs.test_study import finished as finish
from tests.support.jobs import job

pytestmark = pytest.mark.usefixtures("elsewhere")


@pytest.fixture
def canary(tmp_path):
    path = tmp_path / "canary"
    yield path
    assert not path.exists(), "planted code was run"


def test_the_code_would_run(tmp_path):
    pickle.loads(planted.plain(Code(tmp_path / "a")))
    torch.load(io.BytesIO(planted.zipped(Code(tmp_path / "b"))), weights_only=False)
    assert all((tmp_path / name).exists() for name in "ab")


@pytest.mark.parametrize("form", planted.PICKLES, ids=lambda form: form.__name__)
def test_checkpoints_and_weights_are_tensors_or_damaged(canary, form, capsys):
    this = job("scheme=rope")
    this.run.folder.mkdir(parents=True)
    for path in (this.run.checkpoint, this.run.weights):
        path.write_bytes(form(Code(canary)))
        with pytest.raises(UserError, match=r"not readable as tensors|not a checkpoint"):
            resume.Checkpoints(this.source.model("meta")).load_checkpoint(path)
    this.run.curve.write_text("{}")
    this.run.mark("trained", 8)  # as somebody would who wants the weights believed
    with pytest.raises(
        UserError, match=rf"{this.run.weights}: not readable as tensors and plain values .*; delete"
    ):
        trained_model(this)


def test_a_training_begins_with_no_planted_checkpoint(canary):
    this = job("scheme=rope")
    this.run.folder.mkdir(parents=True)
    this.run.checkpoint.write_bytes(planted.saved(Code(canary)))
    with pytest.raises(UserError, match=r"last\.ckpt: not readable as tensors .*; delete runs/"):
        train.train(this)
    this.run.checkpoint.unlink()
    train.train(this)
    assert this.run.trained


def litter(folder: Path, canary: Path) -> None:
    """What else may lie in a folder from a stranger."""
    for name in ("config.yaml", ".hydra/config.yaml", "conf/config.yaml", "hydra_plugins/p.yaml"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(planted.yaml(canary))
    for name in ("sitecustomize.py", "hydra_plugins/p.py", "text.py", "json.py", "parquet.py"):
        (folder / name).write_text(planted.module(canary))


def test_the_configuration_of_a_run_folder_is_data(canary, capsys):
    done = finish("rope-1-s0")
    litter(done.folder.folder, canary)
    identity = {"scheme": planted.node(canary), "words": planted.words(canary)}
    for name in ("config.json", "wandb.json", "failed.json"):
        write_json(
            done.folder.folder / name,
            {"identity": identity, "_target_": "os.mkdir", "reason": planted.words(canary)[0]},
        )
    status(["s"])
    ((page, *_),) = read("s").pages
    assert page.config["options"] == identity  # nothing resolved, nothing called


def in_column(path: Path, column: str, word: str) -> str:
    """A file of rows with a word in one cell."""
    header, first, *others = csv.reader(path.read_text().splitlines())
    first[header.index(column)] = word
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([header, first, *others])
    return out.getvalue()


@pytest.mark.turns
@pytest.mark.parametrize("column", ["scheme", "value"])
def test_rows_are_text_and_numbers(canary, column, capsys):
    path = finish("rope-1-s0").file("train").rows
    kept = path.read_text()
    for word in planted.words(canary):
        path.write_text(kept)
        path.write_text(in_column(path, column, word))
        if column == "scheme":
            plot(["s", "training_curves"])
            continue
        with pytest.raises(SystemExit, match="2"):
            plot(["s", "training_curves"])
        said = capsys.readouterr().err.splitlines()
        assert len(said) == 1 and said[0].startswith(f"extrap plot: {path}:2: value: ")


def test_corpora_are_text(canary, tmp_path, monkeypatch):
    """Loading scripts with the names of the reading library lie in both folders."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = tmp_path / "corpus"
    folder.mkdir()
    litter(tmp_path, canary)
    (folder / "text").mkdir()
    litter(folder / "text", canary)
    words = planted.words(canary)
    records = ({"text": word, "_target_": "os.mkdir", "py/object": "os.mkdir"} for word in words)
    (folder / "a.jsonl").write_text("\n".join(map(json.dumps, records)))
    extension = {
        b"ARROW:extension:name": b"arrow.py_extension_type",
        b"ARROW:extension:metadata": planted.plain(Code(canary)),
    }
    field = pa.field("text", pa.string(), metadata=extension)
    schema = pa.schema([field], metadata={b"pandas": planted.plain(Code(canary))})
    pq.write_table(pa.table([pa.array(words)], schema=schema), folder / "b.parquet")
    (folder / "d.txt").write_text("\n".join(words))
    for source in ("a.jsonl", "b.parquet", "d.txt", "text"):
        found = b"".join(text for _, text in Files(path=str(folder / source)).documents())
        assert source == "text" or all(word.encode() in found for word in words), source


TARGETS = ["os.mkdir", "torch.load", "extrap.runs.folder.Path", "extrap.cli.clean.clean"]


@pytest.mark.parametrize("target", TARGETS)
def test_only_classes_of_the_kind_asked_for_are_built(canary, target):
    with pytest.raises(UserError, match="_target_"):
        build(planted.node(canary) | {"_target_": target}, "scheme", kind=Scheme)


def test_a_pipe_where_a_file_should_be_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "state.json")
    assert read_json(tmp_path / "state.json") == {}

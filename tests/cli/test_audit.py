"""`extrap audit`: what it prints and writes, and one line for a mistake."""

import json

import pandas as pd
import torch

from extrap.audit import zoo
from extrap.audit.column import Column, error
from extrap.audit.trained import trained
from extrap.cli import audit as command
from extrap.model.decoder import Decoder
from extrap.model.gpt import GPT
from extrap.model.scheme import Shape
from extrap.runs.folder import Named
from extrap.studies.audit.demos import addition
from tests.support.discover import node, scheme


def test_the_whole_zoo_is_written_and_written_again_to_the_same_bytes(
    tmp_path, monkeypatch, capsys
):
    chosen = zoo.subjects
    monkeypatch.setattr(zoo, "subjects", lambda names, *more: chosen(["alibi", "learned"], *more))
    command.main(["--results", str(tmp_path)])
    printed, files = capsys.readouterr().out, sorted((tmp_path / "audit").rglob("*.*"))
    assert [file.name for file in files] == ["audit.csv", "audit.png", "audit.svg"]
    assert all(str(file) in printed for file in files)
    frame = pd.read_csv(tmp_path / "audit" / "audit.csv", index_col="scheme")
    assert list(frame.columns) == [column.name for column in zoo.COLUMNS]
    assert frame.loc["learned", "parameters"] == 4096
    assert frame["kernel"].tolist() == ["strided", "fused"]
    before = [file.read_bytes() for file in files]
    command.main(["--results", str(tmp_path)])
    assert capsys.readouterr().out == printed
    assert [file.read_bytes() for file in files] == before
    monkeypatch.setattr(zoo, "subjects", chosen)
    command.main(["nope", "alibi", "--add", "--results", str(tmp_path)])
    again = pd.read_csv(tmp_path / "audit" / "audit.csv", index_col="scheme")
    assert list(again.index) == ["alibi", "learned", "nope"]
    pd.testing.assert_frame_equal(again.loc[frame.index], frame, check_dtype=False)


def test_named_schemes_are_printed_and_nothing_is_written(tmp_path, capsys):
    command.main(["alibi", "--results", str(tmp_path)])
    head, row, *_ = capsys.readouterr().out.splitlines()
    assert head.split()[:2] == ["scheme", "places"] and row.split()[:3] == ["alibi", "64", "always"]
    assert list(tmp_path.iterdir()) == []


def test_a_run_is_shown_from_its_folder_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run, shape = Named("sinusoidal-0"), Shape(16, 2, 1, 24, 300)
    run.folder.mkdir(parents=True)
    options = {"dim": 16, "layers": 1, "heads": 2, "norm": "rms"}
    model = GPT(scheme("sinusoidal", shape), 300, Decoder(16, 1, 2))
    torch.save(model.state_dict(), run.weights)
    run.curve.write_text("{}")
    run.mark("trained", 1)
    identity = {"scheme": node("scheme", "sinusoidal"), "model": options, "data": {"length": 24}}
    (run.folder / "config.json").write_text(json.dumps({"identity": identity}))
    torch.testing.assert_close(trained(run.name).embedding.weight, model.embedding.weight.double())
    assert "Sinusoidal, trained: sinusoidal-0; L = 24 tokens, C = 16 channels" in addition.show(
        run.name
    )


def test_cells_say_what_is_missing():
    column = Column("x", "x", "x", str, error, lambda value: value < 1)
    cells = map(column.cell, (float("nan"), 0.0, 0.5, 3e-7, 2e5, 12.34, float("inf")))
    assert [*cells] == ["-", "0", ".5", "3e-07", "2e+05", "12.3", "inf"]
    assert [column.verdict(v) for v in (float("nan"), 0.0, 2.0)] == [None, True, False]

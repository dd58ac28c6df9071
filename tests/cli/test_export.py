"""`extrap export`: a run of our own, read by transformers and asked by us again as a checkpoint."""

import json
import sys

import pytest
import torch

from extrap.cli import export as command
from extrap.results import rows
from extrap.runs import checkpoint
from extrap.runs.evaluate import evaluate
from extrap.runs.folder import Named, write_json
from extrap.utils.pip import install_extra
from tests.support.jobs import job

pytestmark = pytest.mark.usefixtures("elsewhere")
SMALL = ["model=llama-tiny", "model.dim=16", "model.layers=2", "model.heads=2", "model.kv_heads=1"]
SMALL += ["logger=none", "data/corpus=files", "data.corpus.path=text", "data.length=32"]
SMALL += ["data.vocabulary.keys=40"]
SMALL += ["task=[nll]", "task.nll.multiples=[1]", "task.nll.documents=2"]
HOSTILE = ["", " the  the\n\t", "e\u0301 \u00e9 \u200b\u202e", "\U0001f9d1 \x00\x7f"]


@pytest.fixture
def this(elsewhere):
    """A run whose weights are as drawn, which nobody trained."""
    (elsewhere / "text").mkdir()
    for n in range(12):
        (elsewhere / "text" / f"{n}.txt").write_text(f"the {n} other then of 12 \u00e9 " * 60)
    made = job(*SMALL, tiny=[])
    weights = {
        name: t + 0.1 * torch.randn_like(t) for name, t in made.source.model().state_dict().items()
    }
    with made.run.alone():
        made.run.claim()
        checkpoint.save(weights, made.run.weights)
        write_json(made.run.curve, {"points": []})
        made.run.mark("trained", 8)
    return made


def exported(this, capsys) -> None:
    command.main([this.run.name, "out"])
    assert capsys.readouterr().out == "out\n"


@torch.no_grad()
def test_transformers_reads_model_and_tokenizer(this, capsys, elsewhere):
    import transformers

    exported(this, capsys)
    theirs = transformers.AutoModelForCausalLM.from_pretrained("out")
    tokens = torch.randint(this.source.vocabulary.size, (2, 30))
    ours = this.source.trained(this.run)
    torch.testing.assert_close(theirs(tokens).logits, ours(tokens), atol=1e-4, rtol=1e-4)
    reader = transformers.AutoTokenizer.from_pretrained("out")
    for text in HOSTILE:
        assert reader(text)["input_ids"] == [256, *text.encode()]
        assert reader.decode(list(text.encode())) == text
    assert reader("<k0><v3>x")["input_ids"] == [
        this.source.vocabulary.bos,
        this.source.vocabulary.key(0),
        this.source.vocabulary.value(3),
        ord("x"),
    ]
    assert len(reader) == this.source.vocabulary.size


def test_the_folder_measured_as_a_checkpoint_has_the_same_losses(this, capsys):
    exported(this, capsys)
    again = job(*SMALL[5:], "model=checkpoint", "model.checkpoint=out", "stage=evaluate", tiny=[])
    found = []
    for one in (this, again):
        assert one.source.length == 32 and one.source.vocabulary.bos == 256
        evaluate(one)
        one.dashboard.finish()
        frame = rows.read(one.results)
        own = frame[(frame.run == one.run.name) & (frame.metric == "nll")]
        found.append(own.set_index(["protocol", "axis", "at"]).value.sort_index())
    assert len(found[0]) > 1 and found[0].to_numpy() == pytest.approx(found[1].to_numpy(), abs=1e-4)


@pytest.mark.parametrize("package", ["safetensors", "tokenizers"])
def test_a_package_that_is_not_installed_is_one_line(package, this, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setitem(sys.modules, f"{package}.torch", None)
    with pytest.raises(SystemExit, match="2"):
        command.main([this.run.name, "out"])
    line = f"export: needs the package {package}; {install_extra('pretrained')}"
    assert capsys.readouterr().err == f"extrap export: {line}\n"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"run": "nothing"}, "RUN=nothing: no trained run in runs; there are rope-"),
        ({"run": "../rope"}, "no trained run in runs"),
        ({"folder": "text"}, "FOLDER=text: exists already; give another name"),
        ({"folder": "text/0.txt/out"}, "FOLDER=text/0.txt/out: "),
        ({"identity": {"parent": {}}}, "is a tuned run, whose extension the folder would not hold"),
        ({"identity": {"checkpoint": "0"}}, "is a published checkpoint, already in the format of "),
        (
            {"scheme": "extrap.schemes.nope.NoPE"},
            "export: NoPE has no equal in transformers; train one of RoPE",
        ),
    ],
)
def test_what_cannot_be_exported_is_one_line(change, expected, this, capsys, elsewhere):
    path = this.run.folder / "config.json"
    config = json.loads(path.read_text())
    if "scheme" in change:
        config["identity"]["scheme"] = {"_target_": change["scheme"]}
    config["identity"] |= change.get("identity", {})
    path.write_text(json.dumps(config))
    before = sorted(p.name for p in elsewhere.iterdir())
    with pytest.raises(SystemExit) as ended:
        command.main([change.get("run", this.run.name), change.get("folder", "out")])
    lines = capsys.readouterr().err.splitlines()
    assert ended.value.code == 2 and len(lines) == 1 and expected in lines[0]
    assert lines[0].startswith("extrap export: ")
    assert sorted(p.name for p in elsewhere.iterdir()) == before
    assert Named(this.run.name).trained

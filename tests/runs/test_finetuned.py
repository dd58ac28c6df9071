"""Fine-tuned runs: runs of their own, named by their parent and by how they were tuned; everything
else stays as it is.
"""

import json

import pytest
import torch

from extrap.cli import program
from extrap.cli.composed import Composed
from extrap.extensions.base import SchemeExtension, with_parts
from extrap.model.gpt import GPT
from extrap.model.scheme import Scheme
from extrap.results import rows
from extrap.runs import experiment, study, validate
from extrap.runs import train as stage
from extrap.runs.build import build
from extrap.runs.evaluate import evaluate
from extrap.runs.finetuned import shared
from extrap.schemes.t5 import T5
from extrap.utils.errors import NotApplicable, UserError
from tests.support.discover import gpt, names, node
from tests.support.jobs import composed, equal, job, weights
from tests.support.killed import killed

pytestmark = pytest.mark.usefixtures("elsewhere")

SMALL = ["model.dim=16", "model.layers=1", "model.heads=2"]
BRIEF = ["finetune.steps=6", "finetune.log_every=1", "finetune.save_every=2", "finetune.warmup=2"]


def tuned(*overrides: str, method: str = "full"):
    return job("scheme=rope", f"finetune={method}", *SMALL, *BRIEF, *overrides)


@pytest.mark.parametrize("group", ["finetune", "model"])
def test_a_choice_has_options(group):
    """As the file of an experiment may set it."""
    values, choices = composed("finetune=full")
    with pytest.raises(UserError, match=f"^{group}=1: expected the options of a choice"):
        program.job(Composed(values | {group: 1, "sweep": {}}, choices, [], sweep=False))


def test_labels_tell_method_extension_and_train_factor():
    assert tuned("extension=yarn", "extension.factor=4", *RESET).label == "rope-full-yarn-x4"
    steep = tuned("extension=yarn", "extension.slope=0.2", "finetune.factor=2", *RESET)
    assert steep.label == "rope-full-yarn-slope-0.2-x2"
    assert tuned("finetune.factor=1.5", *RESET, method="lora").label == "rope-lora-direct-x1.5"
    mine = tuned("finetune.steps=7", "label=mine", "data@finetune.data=text")
    assert mine.label == "mine-full-steps-7-warmup-2-text-direct-x1"


RESET = ["finetune.steps=100", "finetune.warmup=10"]


def test_train_factor_and_evaluation_factor_are_two_options():
    same = [
        ("extension.factor=4",),
        ("extension.factor=8", "finetune.factor=4"),
        ("extension.factor=2", "finetune.factor=4.0"),
    ]
    runs = {tuned("extension=yarn", *options).run.name for options in same}
    assert len(runs) == 1
    two = tuned("extension=yarn", "extension.factor=4", "finetune.factor=2")
    assert two.run.name not in runs
    factors = two.extension.factor, two.training.extension_options["factor"]
    assert (*factors, two.training.length, two.source.length) == (4, 2.0, 128, 64)
    chain = tuned("extension=ntk-su-mixed-log-n", "finetune.factor=2")
    assert chain.training.extension_options["first"]["factor"] == 2.0


def test_windows_shorter_than_in_training():
    short = tuned("finetune.factor=0.25").training
    assert (short.length, short.source.length) == (16, 64)
    assert short.data["text"]["size"] == 4 * short.source.config["data"]["text"]["size"]
    assert short.label.endswith("direct-x0.25")
    short.check()
    with pytest.raises(UserError, match=r"finetune.factor=0.25: windows shorter than in training"):
        _ = tuned("extension=yarn", "finetune.factor=0.25").run


def test_what_follows_the_text_is_left_alone_and_needs_a_train_factor():
    for name, options in (("ntk-dynamic", {"factor": 1.0}), ("pi-adaptive", {"factor": None})):
        with pytest.raises(UserError, match=f"finetune.factor=null: extension={name} follows"):
            _ = tuned(f"extension={name}").run
        j = tuned(f"extension={name}", "finetune.factor=2")
        assert j.training.extension_options["factor"] == options["factor"]
        assert j.training.length == 128


def test_names_follow_parent_tuning_data_and_extension():
    a = tuned("extension=pi", "finetune.factor=2")
    same = ("study=other", "stage=train", "finetune.batch=0.5")
    assert tuned("extension=pi", "finetune.factor=2", *same).run.identity == a.run.identity
    assert tuned("extension=pi", "finetune.factor=2", "seed=3").run.config == a.run.config
    changes = "train.lr=1e-3 scheme.base=500 finetune.lr=1e-4 finetune.steps=8 extension=ntk"
    changes += " finetune.batch=1 finetune=lora data@finetune.data=text"
    for change in changes.split():
        assert tuned("extension=pi", "finetune.factor=2", change).run.config != a.run.config


def test_a_batch_is_longer_smaller_and_new():
    j = tuned("finetune.factor=2", "data.text.size=6", "data.retrieval.size=1")
    batch, parent = j.training.batches[0], j.training.parent.batches
    assert batch.tokens.shape == (3 + 1, 128)
    full = tuned("finetune.factor=2", "finetune.batch=1").training.batches[0]
    assert full.tokens.shape == (8, 128)
    first = batch.tokens[:1, :64]
    assert not any(torch.equal(first, parent[t].tokens[:1]) for t in range(len(parent)))
    assert j.training.optim.steps == 6 and j.training.optim.clip == j.training.parent.optim.clip
    text = tuned("data@finetune.data=text", "finetune.factor=2")
    assert list(text.training.batches[0].parts) == ["text"]
    assert list(text.source.mixture.parts) == ["text", "retrieval"]


def test_parts_are_drawn_as_at_the_end_of_training(monkeypatch):
    said = []
    j = tuned()
    part = type(j.training.batches.mixture.text)
    draw = part.draw
    monkeypatch.setattr(
        part, "draw", lambda self, *given: said.append(given[-1]) or draw(self, *given)
    )
    _ = j.training.batches[0], j.training.batches[5]
    assert said == [1.0] * 2


@pytest.mark.parametrize("method", ["full", "lora"])
def test_resumed_equals_uninterrupted(elsewhere, monkeypatch, method):
    """Killed at step 5, resumed from the checkpoint of step 4, with random numbers of dropout."""
    options = ("model.dropout=0.2", "extension=yarn", "finetune.factor=2")
    j = tuned(*options, method=method)
    stage.train(j)
    whole, curve = weights(j), j.run.curve.read_text()
    parent = weights(j.training.parent)
    j.run.folder.rename(elsewhere / "whole")
    with killed(monkeypatch, 5):
        stage.train(tuned(*options, method=method))
    assert j.run.checkpoint.exists() and not j.run.trained
    again = tuned(*options, method=method)
    stage.train(again)
    assert equal(whole, weights(again)) and curve == j.run.curve.read_text()
    assert equal(parent, weights(j.training.parent))
    moved = {name for name in parent if not torch.equal(parent[name], whole[name])}
    matrices = {f"blocks.0.{m}.weight" for m in ("qkv", "out", "up", "down")}
    assert moved == (set(parent) if method == "full" else matrices)


def test_a_tuned_run_is_trained_tuned_and_measured(elsewhere):
    j = tuned("extension=yarn", "extension.factor=4", "finetune.factor=2")
    parent = j.training.parent
    with pytest.raises(UserError, match=r"rope-full-.* is not tuned yet"):
        evaluate(j)
    assert not experiment.done(j)
    experiment.work(j)
    assert experiment.done(tuned("extension=yarn", "extension.factor=4", "finetune.factor=2"))
    stamps = [run.weights.stat().st_mtime_ns for run in (parent.run, j.run)]
    experiment.work(tuned("extension=yarn", "extension.factor=8", "finetune.factor=2"))
    assert stamps == [run.weights.stat().st_mtime_ns for run in (parent.run, j.run)]
    said = json.loads((j.run.folder / "config.json").read_text())
    assert (said["parent"], said["train_factor"], said["steps"]) == (parent.run.name, 2.0, 6)
    frame = rows.read(j.results)
    assert set(frame.train_length) == {64}
    mine = frame[frame.run == j.run.name]
    assert set(mine.scheme) == {j.label} and set(mine[mine.task == "nll"].factor) == {4.0, 8.0}
    curve = mine[mine.task == "train"]
    assert sorted(set(curve["at"].dropna())) == [1, 2, 3, 4, 5, 6]
    known = {entry.run: entry for entry in study.entries("main")}
    assert study.standing(known[parent.run.name]).state is study.State.DONE
    assert {"main"} == study.uses(parent.run.name)


def test_the_extension_is_in_place_while_tuning_and_its_weights_are_found_again():
    """T5's table lies in a stack while it is tuned; tuning begins at the extended parent."""
    j = tuned("scheme=t5", "extension=bias-interpolation", "finetune.factor=2")
    stage.train(job("scheme=t5", *SMALL))
    plain = j.source.model()
    plain.load_state_dict(weights(j.training.parent))
    tokens = j.training.batches[0].tokens
    begun = j.training.begin()
    assert torch.equal(begun(tokens), j.extension(plain)(tokens))
    assert (begun(tokens) - plain(tokens)).abs().max() > 1e-4
    assert "scheme.parts.0.table" in dict(begun.named_parameters())
    stage.train(j)
    assert not torch.equal(weights(j)["scheme.table"], plain.scheme.table)


@pytest.mark.parametrize("scheme", ["rope", "t5", "learned", "floater", "t5-urpe"])
def test_parameters_are_found_again_under_every_extension(scheme):
    for name in names("extension"):
        model = gpt(scheme)
        known = shared(model)
        try:
            extended = build(node("extension", name), "extension")(model)
        except NotApplicable:
            continue
        if isinstance(extended, GPT):
            found = [known[id(p)] for p in extended.parameters()]
            assert sorted(found) == sorted(known.values()), name


class Gains(SchemeExtension):
    """An extension with weights of its own."""

    def extend(self, scheme: Scheme) -> Scheme:
        return with_parts(scheme, T5(scheme.shape))


def test_an_extension_with_parameters_of_its_own_is_refused():
    j = tuned("plugins=[tests]")
    j.config["extension"] = {"_target_": "tests.runs.test_finetuned.Gains"}
    with pytest.raises(NotApplicable, match="brings parameters of its own"):
        validate.check(j)


def test_a_parent_that_diverged_is_not_tuned():
    j = tuned("train.lr=1e30", "train.clip=1e30", "train.warmup=0")
    with pytest.raises(UserError, match=r"rope-\w+-s0 diverged") as error:
        stage.train(j)
    assert error.value.option == "finetune"
    assert not j.run.trained


def test_every_seed_draws_an_addition_of_its_own(elsewhere):
    """And the same one again."""
    drawn = []
    for seed in (0, 1, 1):
        j = tuned(f"seed={seed}", method="lora")
        if not j.training.parent.run.trained:
            stage.train(job("scheme=rope", *SMALL, f"seed={seed}"))
        named = j.training.begin().named_parameters()
        drawn.append(torch.cat([p.flatten() for name, p in named if name.endswith(".A")]))
    assert torch.equal(drawn[1], drawn[2])
    assert torch.isclose(drawn[0], drawn[1]).float().mean() < 0.01


def test_tuning_that_diverges_marks_the_run_and_not_its_parent():
    j = tuned("finetune.lr=1e30", "train.clip=1e30", "finetune.warmup=0")
    stage.train(j)
    assert (j.run.state["state"], j.training.parent.run.state["state"]) == ("diverged", "trained")


CANNOT = [
    (["finetune.batch=0"], "finetune.batch"),
    (["finetune=lora", "finetune.targets=[q]"], "finetune.targets"),
    (["finetune.save_every=5", "finetune.log_every=2"], "finetune.save_every"),
    (["trainer=ddp", "trainer.accelerator=cpu"], "finetune"),
]


def test_an_option_of_the_extension_that_does_not_fit_is_one_line():
    with pytest.raises(UserError, match=r"^extension\.width=200: must lie between 1 and L - 2"):
        _ = tuned("extension=leaky-rerope", "extension.k=4", "extension.width=200").run


@pytest.mark.parametrize(("overrides", "option"), CANNOT)
def test_tuning_that_cannot_work_names_its_option(overrides, option):
    with pytest.raises(UserError) as error:
        validate.check(tuned(*overrides))
    assert error.value.option == option
    assert "\n" not in str(error.value)

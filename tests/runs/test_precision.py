"""Every precision and trainer file that a CPU can imitate: trained, resumed, evaluated."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import lightning as L
import pytest
import torch
from lightning.fabric.utilities.exceptions import MisconfigurationException
from torch.nn.modules.module import register_module_forward_hook

from extrap.runs import train as stage
from extrap.runs.evaluate import evaluate
from extrap.runs.training import devices, options
from extrap.runs.training.lightning_module import Lit
from extrap.utils.errors import UserError
from tests.support.discover import names, node
from tests.support.jobs import alike, equal, job, weights
from tests.support.killed import killed

pytestmark = pytest.mark.usefixtures("elsewhere")

BRIEF = [
    *("train.steps=2", "train.log_every=1", "train.save_every=1", "train.warmup=0"),
    *("model.dim=16", "model.heads=2", "task=[nll,kv]"),
]
COMPUTED = options.DTYPES | {"bf16-mixed": torch.bfloat16}
"""Type of what a matrix gives in training, by precision."""


@pytest.fixture
def computed() -> Iterator[set[torch.dtype]]:
    """Types of what matrices give in training."""
    found: set[torch.dtype] = set()

    def look(module: torch.nn.Module, _, out: torch.Tensor) -> None:
        if module.training and isinstance(module, torch.nn.Linear):
            found.add(out.dtype)

    hook = register_module_forward_hook(look)
    yield found
    hook.remove()


def die_at(step: int, monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    with killed(monkeypatch, step):
        stage.train(job(*words))


@pytest.mark.sample(2)
@pytest.mark.parametrize("precision", options.DTYPES)
def test_every_precision_trains_goes_on_and_is_evaluated(
    precision, elsewhere, monkeypatch, computed
):
    words = [*BRIEF, f"trainer.precision={precision}", "train.steps=3"]
    this = job(*words)
    stage.train(this)
    assert computed == {COMPUTED[precision]}
    whole = weights(this)
    assert {w.dtype for w in whole.values()} == {options.DTYPES[precision]}
    evaluate(this)
    assert len(list(Path("results/main/rows").glob(f"{this.run.name}__*.csv"))) == 3
    this.run.folder.rename(elsewhere / "whole")
    die_at(2, monkeypatch, words)
    again = job(*words)
    assert again.run.checkpoint.exists()
    stage.train(again)
    assert equal(whole, weights(again))


@pytest.mark.parametrize("precision", ["bf16-true", "64-true"])
def test_a_run_of_any_precision_is_tuned(precision):
    tune = ["finetune=full", "finetune.steps=2", "finetune.log_every=1", "finetune.save_every=1"]
    this = job(
        *BRIEF, f"trainer.precision={precision}", "extension=yarn", "finetune.factor=2", *tune
    )
    stage.train(this)
    assert {w.dtype for w in weights(this).values()} == {options.DTYPES[precision]}
    evaluate(this)


def test_gradients_are_clipped_by_their_norm(monkeypatch):
    """Two steps of AdamW do not show the scale of a gradient; the gradients themselves do."""
    norms = []

    def look(self, *args, **options) -> None:
        norms.append(
            torch.nn.utils.get_total_norm([p.grad for p in self.parameters() if p.grad is not None])
        )

    monkeypatch.setattr(Lit, "on_before_zero_grad", look, raising=False)
    for name in ("32-true", "bf16-mixed"):
        stage.train(job(*BRIEF, "train.clip=0.01", f"trainer.precision={name}"))
    seen = [float(norm) for norm in norms if norm > 0]
    assert seen and max(seen) <= 0.01 * (1 + 1e-4)
    assert min(seen) >= 0.0099


@pytest.mark.sample(2)
@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("name", names("trainer"))
def test_every_trainer_file_trains_in_the_numbers_it_says(name, computed):
    """On one device of this machine; several are in test_devices.py."""
    this = job(*BRIEF, f"trainer={name}", "trainer.accelerator=cpu", "trainer.devices=1")
    stage.train(this)
    assert computed == {COMPUTED[node("trainer", name)["precision"]]}
    evaluate(this)
    assert this.run.state["state"] == "trained"


def test_a_step_is_an_update_however_its_batch_is_divided():
    """Accumulated gradients equal the gradients of the batch: the same run, the same curve."""
    words = [*BRIEF, "train.steps=4", "data.retrieval.size=4", "data.text.size=4"]
    this = job(*words)
    stage.train(this)
    whole, curve = weights(this), this.run.curve.read_text()
    this.run.folder.rename("whole")
    divided = job(*words, "+trainer.accumulate_grad_batches=2")
    assert divided.run.name == this.run.name
    stage.train(divided)
    evaluate(divided)
    alike(weights(divided), whole)
    points = (json.loads(text)["points"] for text in (curve, divided.run.curve.read_text()))
    for one, two in zip(*points, strict=True):
        assert one == pytest.approx(two, abs=1e-4)


@pytest.mark.filterwarnings("ignore")
def test_a_compiled_run_is_the_run(monkeypatch):
    """Graphs are taken as for a GPU, and run as they are: no code is generated."""
    taken, compiler = [], torch.compile

    def graphs(function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
        taken.append(function)
        return compiler(function, backend="eager")

    monkeypatch.setattr(torch, "compile", graphs)
    this = job(*BRIEF, "train.steps=3")
    stage.train(this)
    whole = weights(this)
    this.run.folder.rename("whole")
    assert not taken
    compiled = job(*BRIEF, "train.steps=3", "+trainer.compile=true")
    assert compiled.run.name == this.run.name
    stage.train(compiled)
    assert len(taken) == 1
    alike(weights(compiled), whole, atol=1e-5)
    torch.compiler.reset()


@pytest.mark.parametrize(
    "words",
    [
        "trainer.precision=16-mixed",
        "trainer.devices=2 +trainer.compile=true",
        "data.text.size=4 +trainer.accumulate_grad_batches=3",
        "+trainer.workers=9",
        "+trainer.num_nodes=2",
        "+trainer.gradient_clip_val=2",
    ],
)
def test_a_trainer_that_cannot_work_is_rejected(words, monkeypatch):
    for name in devices.LAUNCHERS:
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UserError) as error:
        stage.check(job(*words.split()), sweep=False)
    named = [word.lstrip("+").partition("=")[0] for word in words.split()]
    assert error.value.option in named


def test_what_a_trainer_finds_wrong_as_it_starts_is_one_line(monkeypatch):
    def refuse(*args, **options) -> None:
        raise MisconfigurationException("no such\n   thing")

    monkeypatch.setattr(L.Trainer, "fit", refuse)
    with pytest.raises(UserError, match=r"no such thing; trainer=cpu works everywhere$") as error:
        stage.train(job(*BRIEF))
    assert str(error.value).startswith("trainer.accelerator=cpu trainer.devices=1")

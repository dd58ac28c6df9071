"""A family whose positions a probe does not reach is read for its logits alone, from safetensors
alone, and extrap rejects in a line whatever would act on positions.
"""

from functools import partial

import pytest
import torch

from extrap.model.scheme import OutOfRange
from extrap.pretrained import causal
from extrap.pretrained.adapted import Adapted
from extrap.pretrained.checkpoint import Checkpoint
from extrap.pretrained.plain import Plain
from extrap.results import rows
from extrap.runs import validate
from extrap.utils.errors import UserError
from tests.support import tiny_checkpoints as tiny
from tests.support import tiny_families
from tests.support.checkpoint_jobs import L, asked, measured, placed, saved

pytestmark = pytest.mark.usefixtures("elsewhere")
TOKENS = torch.randint(61, (2, 75), generator=torch.Generator().manual_seed(5))
CPU_FULL = "[enforce fail at alloc_cpu.cpp:124] DefaultCPUAllocator: can't allocate memory"
INSIDE = ["task=[diagnostics]", "task.diagnostics.multiples=[1]"]
INSIDE += ["task.diagnostics.contents=[text]", "task.diagnostics.inputs=2"]


@torch.no_grad()
def test_logits_are_those_of_transformers(tmp_path):
    """HunYuan, whose norm of queries comes behind their rotation: of all positions, and of the
    last ones."""
    theirs = tiny.made("hunyuan")
    theirs.save_pretrained(tmp_path)
    ours = Checkpoint(str(tmp_path)).model()
    assert isinstance(ours, Plain) and ours.length == 32
    for n in (1, 13, 75):
        expected = theirs(TOKENS[:, :n]).logits
        assert expected.abs().max() > 0.3
        torch.testing.assert_close(ours(TOKENS[:, :n]), expected, atol=1e-4, rtol=1e-4)
        last = ours(TOKENS[:, :n], last=1)
        torch.testing.assert_close(last, expected[:, -1:], atol=1e-4, rtol=1e-4)
    assert Checkpoint(str(tmp_path)).model(dtype="bf16")(TOKENS).dtype is torch.bfloat16


@torch.no_grad()
def test_past_a_table_nothing_is_read(tmp_path):
    tiny.made("gpt_neo").save_pretrained(tmp_path)
    ours = Checkpoint(str(tmp_path)).model()
    assert ours(TOKENS[:, :32]).shape == (2, 32, 61)
    with pytest.raises(OutOfRange, match="75 tokens lie past a table of gpt_neo"):
        ours(TOKENS)


def test_a_model_of_another_family_is_measured(elsewhere):
    """From the command line's options to rows; without storage it has the same parameters."""
    placed(elsewhere)
    theirs = saved(elsewhere / "plain", "hunyuan")
    this = measured("model.checkpoint=plain")
    assert this.source.params == sum(p.numel() for p in theirs.parameters())
    frame = rows.read(this.results)
    nll = frame[frame.metric == "nll"]
    assert set(nll.length) == {L // 2, L, 2 * L} and set(frame.status) == {"ok"}
    assert nll.value.notna().all() and set(frame.task) == {"nll"}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["extension=yarn"], "extension=yarn: "),
        (["extension=crop"], "with model=checkpoint work direct"),
        (INSIDE, "task=diagnostics: "),
        (["finetune=lora", "data=text"], "model_type=hunyuan_v1_dense: read for its logits alone"),
    ],
)
def test_what_would_act_on_positions_is_refused(words, expected, elsewhere):
    placed(elsewhere)
    saved(elsewhere / "plain", "hunyuan")
    with pytest.raises(UserError) as error:
        validate.check(asked("model.checkpoint=plain", *words))
    assert expected in str(error.value) and "\n" not in str(error.value)


def test_code_of_a_checkpoint_is_not_run(tmp_path):
    changes = {"model_type": "mine", "auto_map": {"AutoConfig": "mine.Mine"}}
    checkpoint = tiny.rewritten(tmp_path, "hunyuan", **changes)
    (tmp_path / "mine.py").write_text("raise SystemExit('code of a checkpoint was run')")
    with pytest.raises(UserError, match="model_type=mine is not"):
        checkpoint.model()


def test_a_model_that_sees_what_follows_is_refused(tmp_path):
    """BERT has a head for causal modelling, and attention in both directions unless told."""
    tiny.made("bert").save_pretrained(tmp_path / "both")
    with pytest.raises(UserError, match="model_type=bert sees later tokens"):
        Checkpoint(str(tmp_path / "both")).model()
    tiny.made("bert", is_decoder=True).save_pretrained(tmp_path / "causal")
    assert Checkpoint(str(tmp_path / "causal")).model()(TOKENS[:, :8]).shape == (2, 8, 61)


def test_an_adapter_is_refused(tmp_path):
    tiny.made("hunyuan").save_pretrained(tmp_path)
    (tmp_path / "adapter_config.json").write_text("{}")
    with pytest.raises(UserError, match="merge the adapter"):
        Checkpoint(str(tmp_path)).model()


def leaking(where):
    """Logits of the token read; where(T, t) says at which place a token changes the logits before
    it, as an attention without a mask would. -inf stands for an id that the model leaves out.
    """

    def model(ids, last):
        logits = torch.nn.functional.one_hot(ids, 70).float()
        seen = torch.tensor([where(ids.shape[1], t) for t in range(ids.shape[1])]).float()
        logits = logits + 5 * (logits * seen[:, None]).mean(1, keepdim=True)
        logits[..., 69] = -torch.inf
        return logits[:, -last:]

    return model


@pytest.mark.parametrize(
    ("where", "lengths", "at"),
    [
        (lambda T, t: False, [32, 64], None),
        (lambda T, t: True, [], 8),
        (lambda T, t: T > 8, [], None),
        (lambda T, t: T > 8, [32], 32),
        (lambda T, t: T > 40, [16, 32, 48, 64], 48),
        (lambda T, t: T > 8 and t == T - 1, [32], 32),
        (lambda T, t: T > 8 and t == 1, [32], 32),
    ],
)
def test_a_model_that_sees_later_tokens_in_a_long_text_is_found(where, lengths, at, monkeypatch):
    for numbers in (2**26, 70):  # all logits, and the last ones alone
        monkeypatch.setattr(causal, "NUMBERS", numbers)
        monkeypatch.setattr(causal, "BEFORE", 31)
        found = causal.fault(leaking(where), torch.device("cpu"), lengths)
        assert (found is None) == (at is None)
        assert found is None or f"sees later tokens (a text of {at} tokens)" in found.problem


def test_blocks_that_see_each_other_are_found():
    """Each token sees its whole block: at the border of a block nothing is to be seen."""

    def model(ids, last, block):
        each = torch.nn.functional.one_hot(ids, 70).float()
        blocks = torch.arange(ids.shape[1]) // block
        alike = (blocks[:, None] == blocks).float()
        return (each + alike @ each)[:, -last:]

    for block in (2, 3, 4, 8, 16):
        assert causal.fault(partial(model, block=block), torch.device("cpu"), [64])


def test_texts_that_see_one_another_are_found():
    """By what the other one says, however little, and by its being there; rounding is none."""
    cpu = torch.device("cpu")

    def said(change):
        found = causal.fault(lambda ids, last: change(logits_of(ids))[:, -last:], cpu)
        return found and found.problem

    for change in (lambda x: x + 0.01 * x.mean(0), lambda x: x.flip(0), lambda x: x * len(x)):
        assert said(change) == "gives other logits for a text (8 tokens) beside another"
    assert said(lambda x: x * (1 + 0.01 * len(x))) is None


def test_noise_in_a_long_text_is_found():
    def model(ids, last):
        return torch.randn(1, last, 70) if ids.shape[1] > 8 else torch.zeros(1, last, 70)

    assert causal.fault(model, torch.device("cpu")) is None
    found = causal.fault(model, torch.device("cpu"), [32])
    assert found and found.problem.startswith("returns other logits for the same ids")


def test_a_function_that_keeps_something_of_its_longest_text_is_found():
    """Around a dynamic scaling, which keeps the frequencies of the longest text; a Plain around
    the same model forgets them.
    """
    net = tiny.made("llama", **tiny.rope("dynamic"))

    def model(ids, last):
        return net(ids).logits[:, -last:]

    cpu = torch.device("cpu")
    found = causal.fault(model, cpu, [32, 40, 64])
    assert found and "other logits for a text (40 tokens) after a longer one" in found.problem
    assert causal.fault(model, cpu, [16, 64]) is None  # shorter than its window it starts anew
    assert causal.fault(Plain(net, 32), cpu, [32, 40, 64]) is None


def test_a_text_that_a_model_refuses_is_not_asked():
    def model(ids, last):
        if ids.shape[1] > 32:
            raise OutOfRange("past a table")
        return torch.zeros(1, last, 70)

    assert causal.fault(model, torch.device("cpu"), [16, 64]) is None


def logits_of(ids):
    return torch.nn.functional.one_hot(ids, 70).float().cumsum(1)


def failing(error, past):
    def model(ids):
        if ids.shape[1] > past:
            raise error
        return logits_of(ids)

    return model


@pytest.mark.parametrize("error", [AssertionError("block"), KeyError("x"), RuntimeError("size")])
def test_whatever_a_model_raises_past_its_length_is_a_length_that_it_cannot_read(error):
    ids = torch.zeros(2, 64, dtype=torch.long)
    with pytest.raises(OutOfRange, match=rf"fails at 64 tokens .{type(error).__name__}"):
        Plain(failing(error, 40), 32)(ids)
    assert Plain(failing(error, 40), 32)(ids[:, :40], last=3).shape == (2, 3, 70)
    with pytest.raises(UserError, match=r"fails at ids of shape .1, 64. ") as caught:
        Plain(failing(error, 40), 64)(ids)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("error", [torch.OutOfMemoryError("full"), RuntimeError(CPU_FULL)])
def test_memory_that_is_full_says_nothing_about_length(error):
    ids = torch.zeros(1, 9, dtype=torch.long)
    with pytest.raises(type(error), match=r"full|allocate"):
        Plain(failing(error, 8), 8)(ids)
    net = tiny.made("llama")
    made = Adapted(net, 8)
    net.model.norm.forward = failing(error, 0)
    with pytest.raises(type(error), match=r"full|allocate"):
        made(ids)


def test_logits_come_as_their_model_gives_them():
    """One text at a time, in a tuple, and with gradients that the model takes by itself."""

    def single(ids):
        assert len(ids) == 1
        return logits_of(ids), None

    def learning(ids):
        with torch.enable_grad():
            weight = torch.ones(70, requires_grad=True)
            loss = (logits_of(ids) * weight).sum()
            (step,) = torch.autograd.grad(loss, weight)
        return logits_of(ids) * weight + 0 * step

    def trained(ids):
        weight = torch.ones(70, requires_grad=True)
        (logits_of(ids) * weight).sum().backward()
        return logits_of(ids) * weight + 0 * weight.grad

    ids = torch.arange(12).view(2, 6)
    for model in (single, learning, trained):
        with torch.inference_mode():
            found = Plain(model, 32)(ids.clone(), last=4)
        assert not found.requires_grad
        torch.testing.assert_close(found, logits_of(ids)[:, -4:])


def test_a_text_that_a_model_crops_past_its_length_is_one_that_it_cannot_read():
    ids = torch.zeros(2, 64, dtype=torch.long)
    with pytest.raises(OutOfRange, match="answers 40 of 64 tokens"):
        Plain(lambda ids: logits_of(ids[:, -40:]), 32)(ids)
    with pytest.raises(UserError, match=r"returned a tensor of shape .1, 40, 70. for ids of shape"):
        Plain(lambda ids: logits_of(ids[:, -40:]), 64)(ids)


@pytest.mark.parametrize("most", [1, 2])
def test_a_model_may_answer_in_one_buffer(most):
    """Whether it reads one text at a time or several."""
    kept = {}

    def model(ids):
        assert len(ids) <= most
        found = logits_of(ids)
        return kept.setdefault(found.shape, torch.empty_like(found)).copy_(found)

    reader = Plain(model, 32)
    assert causal.fault(reader, torch.device("cpu"), [16, 32]) is None
    ids = torch.arange(12).view(2, 6)
    torch.testing.assert_close(reader(ids), logits_of(ids))


def test_probabilities_are_no_logits():
    def softened(ids, last):
        return logits_of(ids).softmax(-1)[:, -last:]

    found = causal.fault(softened, torch.device("cpu"))
    assert found and found.problem.startswith("returns probabilities")
    eye = torch.eye(70)
    assert causal.fault(lambda ids, last: eye[ids][:, -last:], torch.device("cpu")) is None


def test_constants_of_old_versions_are_no_weights(tmp_path):
    """masked_bias of GPT-2, which its attention no longer reads; other names are refused."""
    from safetensors.torch import load_file, save_file

    tiny.made("gpt2", pad_token_id=None).save_pretrained(tmp_path)
    file, own = tmp_path / "model.safetensors", Checkpoint(str(tmp_path)).model()
    expected = own(TOKENS[:, :9])
    tensors = load_file(file) | {"transformer.h.0.attn.masked_bias": torch.tensor(-1e4)}
    save_file(tensors, file, metadata={"format": "pt"})
    assert torch.equal(Checkpoint(str(tmp_path)).model()(TOKENS[:, :9]), expected)
    save_file(tensors | {"transformer.h.0.mine": torch.ones(3)}, file, metadata={"format": "pt"})
    with pytest.raises(UserError, match="1 unexpected tensors"):
        Checkpoint(str(tmp_path)).model()


@pytest.mark.parametrize(
    ("family", "mask", "more"),
    [
        ("gpt_neo", "attention.bias", {}),
        ("gptj", "bias", {"rotary_dim": 4}),
        ("codegen", "causal_mask", {"rotary_dim": 4}),
    ],
)
def test_masks_of_old_versions_are_no_weights(tmp_path, family, mask, more):
    from safetensors.torch import load_file, save_file

    tiny_families.made(family, **more).save_pretrained(tmp_path)
    file, own = tmp_path / "model.safetensors", Checkpoint(str(tmp_path)).model()
    old = {f"transformer.h.0.attn.{mask}": torch.ones(1, 1, 64, 64, dtype=torch.bool).tril()}
    old |= {"transformer.h.0.attn.masked_bias": torch.tensor(-1e9)}
    save_file(load_file(file) | old, file, metadata={"format": "pt"})
    assert torch.equal(Checkpoint(str(tmp_path)).model()(TOKENS[:, :9]), own(TOKENS[:, :9]))
    learned = {name: torch.ones(32) for name in old}
    save_file(load_file(file) | learned, file, metadata={"format": "pt"})
    with pytest.raises(UserError, match=f"1 unexpected tensors: .*{mask}"):
        Checkpoint(str(tmp_path)).model()

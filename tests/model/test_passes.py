"""Forward passes: the tail of a text alone, texts that begin alike, compiled."""

from itertools import chain

import numpy as np
import pytest
import torch
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from extrap.model import fitting, steady
from extrap.model import gpt as module
from extrap.model.fitting import Need
from extrap.model.gpt import GPT
from extrap.model.past import Past
from extrap.tasks.scoring.answers import NONE
from extrap.tasks.scoring.multi_token import Begun, greedy
from tests.support.discover import gpt, made, node


@torch.no_grad()
def test_gradients_and_states_are_those_of_the_whole():
    model, tokens = gpt("t5"), torch.randint(50, (3, 40))
    states: list[torch.Tensor] = []
    hidden = model.hidden(tokens, states)
    assert [s.shape for s in states] == [hidden.shape] * 2
    with torch.enable_grad():
        grads = [
            torch.autograd.grad(y.square().sum(), [*model.parameters()])
            for y in (model(tokens, last=4), model(tokens)[:, -4:])
        ]
    for a, b in zip(*grads, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-11)


@torch.no_grad()
def test_it_costs_less():
    """Of a layer's products 9 of 12 C**2 T are left out, and the head's."""
    model, tokens = gpt("rope"), torch.randint(50, (1, 64))
    flops = []
    for last in (64, 1):
        with FlopCounterMode(display=False) as counter:
            model(tokens, last=last)
        flops.append(counter.get_total_flops())
    C, left_out = 32, 63
    assert flops[0] - flops[1] == 2 * left_out * (9 * C * C + C * 50)


@torch.no_grad()
@pytest.mark.parametrize("last", [1, 7, 20])
def test_losses_are_those_of_the_logits_a_block_at_a_time(last, monkeypatch):
    made, tokens = gpt("rope"), torch.arange(40).view(2, 20) % 50
    targets = (tokens[:, 20 - last :] * 7 + 3) % 50
    logits = made(tokens, last=last)
    expected = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none")
    seen = []
    monkeypatch.setattr(module, "LOGITS", 6 * 50)
    monkeypatch.setattr(made, "logits", lambda h: seen.append(len(h)) or module.GPT.logits(made, h))
    found = made.losses(tokens, targets)
    torch.testing.assert_close(found, expected.view(2, last))
    assert max(seen) <= 6 and sum(seen) == 2 * last


@torch.no_grad()
def test_what_texts_share_goes_through_the_layers_once():
    """Two texts of 64 tokens share 48, which go through the first layer (12 C^2) and the keys and
    values of the second (3 C^2) once.
    """
    model = gpt("rope")
    texts = torch.randint(50, (1, 1, 64)).repeat(2, 1, 1)
    texts[0, 0, 48] = (texts[0, 0, 48] + 1) % 50
    flops = []
    for read in (lambda: [model(text, last=1) for text in texts], lambda: model.endings(texts, 1)):
        with FlopCounterMode(display=False) as counter:
            read()
        flops.append(counter.get_total_flops())
    C = 32
    assert flops[0] - flops[1] == 2 * 48 * (12 + 3) * C * C  # attention on a CPU is not counted


@torch.no_grad()
@pytest.mark.parametrize("factors, steady", [({}, True), ({"ntk-dynamic": 1}, False)])
def test_generation_reads_a_prompt_once_if_its_past_stays(factors, steady):
    model = gpt("rope", length=16)
    for name in factors:
        model = made(node("extension", name), "extension")(model)
    prompts = [np.arange(20) % 50, np.arange(3, 23) % 50]
    read = []
    model.embedding.register_forward_hook(lambda m, given, out: read.append(given[0].shape[1]))
    found = greedy(model, prompts, 6, 4096)
    assert model.continues(2, 20, 26) == steady
    assert read[0] == 25 and len(read) > 1
    assert (max(read[1:]) <= 5) == steady  # a guess, not the prompt
    plain = greedy(model.forward, prompts, 6, 4096)
    assert (found == plain).all()


@torch.no_grad()
@pytest.mark.parametrize(
    "scheme", ["rope", "rope-logn", "alibi", "kerple-log", "window", "forgetting"]
)
def test_long_answers_are_those_of_whole_texts_and_guess_ahead_only_where_guesses_are_right(scheme):
    model = gpt(scheme, length=16)
    prompts = [np.arange(20) % 50, np.arange(3, 23) % 50]
    plain = greedy(model.forward, prompts, 24, 4096)
    read = []
    model.embedding.register_forward_hook(lambda m, given, out: read.append(given[0].shape[1]))
    found = greedy(model, prompts, 24, 4096)
    assert (found == plain).all()
    assert read[0] == 20 + 8 - 1 and sum(read[1:]) <= 3 * 24

    def ended(ids):
        return len(ids) >= 9

    for reader in (model, model.forward):
        short = greedy(reader, prompts, 24, 4096, ended=ended)
        assert (short[:, :9] == plain[:, :9]).all()
        assert ((short == plain) | (short == NONE)).all()


@torch.no_grad()
@pytest.mark.parametrize("scheme", ["rope", "alibi", "window", "forgetting", "ntk-dynamic"])
def test_a_text_is_read_on_from_where_it_parts_from_the_last_one(scheme):
    model = gpt("rope" if scheme == "ntk-dynamic" else scheme, length=16)
    if scheme == "ntk-dynamic":
        model = made(node("extension", scheme), "extension")(model)
    begun, text = Begun(model), torch.randint(50, (2, 60))
    other = text.clone()
    other[:, 30:] = (other[:, 30:] + 1) % 50
    read = []
    model.embedding.register_forward_hook(lambda m, given, out: read.append(given[0].shape[1]))
    for tokens, last, new in ((text[:, :50], 3, 50), (text, 4, 10), (other[:, :40], 2, 10),
                              (other[:1], 2, 60), (other[:1], 2, 2)):  # fmt: skip
        whole = model.forward(tokens, last=last)
        read.clear()
        torch.testing.assert_close(begun(tokens, last), whole)
        assert read == [new if scheme != "ntk-dynamic" else tokens.shape[1]]
        said = greedy(begun, list(tokens.numpy()), 7, 4096)
        assert (said == greedy(model.forward, list(tokens.numpy()), 7, 4096)).all()


@torch.no_grad()
def test_a_scheme_that_looks_ahead_reads_every_text_whole(monkeypatch):
    model, texts = gpt("rope"), torch.randint(50, (1, 2, 40)).repeat(3, 1, 1)
    texts[0, :, 20:] = 0
    monkeypatch.setattr(model.scheme, "looks_ahead", True)
    read = []
    monkeypatch.setattr(
        model, "hidden", lambda *a, **k: read.append(k) or GPT.hidden(model, *a, **k)
    )
    model.endings(texts, 1)
    assert read == [{"last": 1}] * 3


def held(past):
    """The bytes of a past."""
    of_layers = chain.from_iterable(past.layers.values())
    return sum(x.nbytes for x in of_layers if x is not None)


@torch.no_grad()
@pytest.mark.parametrize("scheme", ["rope", "t5", "forgetting", "delta-rule", "rope-gate"])
def test_bytes_of_a_past_are_foreseen_with_inputs_only_where_a_hook_reads_them(scheme):
    model, past = gpt(scheme), Past()
    model.further(torch.randint(50, (2, 20)), 1, past)
    assert held(past) == 2 * 20 * model.of_past()
    assert all((x is None) == (scheme in ("rope", "t5")) for x, *_ in past.layers.values())


@torch.no_grad()
@pytest.mark.parametrize("enough", [True, False])
def test_a_large_past_is_kept_where_the_free_memory_holds_it_twice(enough, monkeypatch, recwarn):
    """Else every text is read whole again, one line says so, and the answers are equal."""
    model = gpt("rope")
    texts = torch.randint(50, (1, 2, 40)).repeat(3, 1, 1)
    for n, text in enumerate(texts[:2]):
        text[:, 20 + 10 * n :] = 0
    prompts = [np.arange(40) % 50, np.arange(3, 43) % 50]
    whole = torch.stack([model(text, last=1) for text in texts])
    plain = greedy(model.forward, prompts, 6, 4096)
    room = Need(model)(2 * 46, 0) + 2 * 2 * 46 * model.of_past()
    monkeypatch.setattr(module, "KEPT", 0)
    monkeypatch.setattr(fitting, "free", lambda: room if enough else room / 2)
    read = []
    model.embedding.register_forward_hook(lambda m, given, out: read.append(given[0].shape[1]))
    torch.testing.assert_close(model.endings(texts, 1), whole)
    assert read == ([40, 10, 20] if enough else [40] * 3)
    read.clear()
    assert (greedy(model, prompts, 6, 4096) == plain).all()
    assert read[0] == 45 and len(read) > 1
    assert (max(read[1:]) < 40) == enough
    assert {str(line.message) for line in recwarn} == (set() if enough else {module.NO_ROOM})


@torch.no_grad()
@pytest.mark.parametrize("enough", [True, False])
def test_a_past_that_a_reader_holds_needs_no_room_once_more(enough, monkeypatch, recwarn):
    """What it holds is no longer free."""
    model, text = gpt("rope"), torch.randint(50, (2, 40))
    other = text.clone()
    other[:, 20:] = (other[:, 20:] + 1) % 50
    prompts = list(other.numpy())
    whole, plain = model(other, last=1), greedy(model.forward, prompts, 6, 4096)
    room = Need(model)(2 * 46, 0) + 2 * 2 * 46 * model.of_past() - (not enough)
    begun = Begun(model)
    monkeypatch.setattr(module, "KEPT", 0)
    monkeypatch.setattr(fitting, "free", lambda: room - held(begun._past))
    begun(text, 1)
    read = []
    model.embedding.register_forward_hook(lambda m, given, out: read.append(given[0].shape[1]))
    torch.testing.assert_close(begun(other, 1), whole)
    assert (greedy(begun, prompts, 6, 4096) == plain).all()
    assert read[0] == 20 and (max(read) < 40) == enough
    assert {str(line.message) for line in recwarn} == (set() if enough else {module.NO_ROOM})


@torch.no_grad()
def test_a_system_that_tells_no_free_memory_is_not_called_full(monkeypatch):
    model, texts = gpt("rope"), torch.randint(50, (2, 1, 40))
    monkeypatch.setattr(module, "KEPT", 0)
    monkeypatch.setattr(fitting, "free", lambda: float("inf"))
    with pytest.warns(UserWarning, match="^this system does not say how much memory is free"):
        model.endings(texts, 1)


@torch.no_grad()
def test_inputs_of_a_layer_are_probed_once(monkeypatch):
    model, texts = gpt("forgetting"), torch.randint(50, (3, 1, 40))
    asked, attention = [], steady.attention
    monkeypatch.setattr(
        steady, "attention", lambda *given: asked.append(given) or attention(*given)
    )
    for _ in range(2):
        model.endings(texts, 1)
        assert len(asked) == len(model.blocks)


@torch.no_grad()
def test_a_text_that_shares_little_with_the_last_one_is_read_whole_and_kept(monkeypatch):
    """Whether a short past stays costs attention of nearly all rows."""
    model, text = gpt("rope"), torch.randint(50, (2, 60))
    begun, other = Begun(model), text.clone()
    other[:, 7:] = (other[:, 7:] + 1) % 50
    begun(text, 2)
    known, read = [], []
    continues = model.continues
    monkeypatch.setattr(
        model,
        "continues",
        lambda n, first, *rest: known.append(first) or continues(n, first, *rest),
    )
    model.embedding.register_forward_hook(lambda m, given, out: read.append(given[0].shape[1]))
    for new in (60, 2):
        torch.testing.assert_close(begun(other, 2), GPT.forward(model, other, last=2))
        assert read == [new, 60]
        read.clear()
    assert known == [58, 58]


@torch.no_grad()
def test_a_text_that_fits_alone_needs_no_past(monkeypatch):
    model, texts = gpt("rope"), torch.randint(50, (2, 1, 40))
    whole = torch.stack([model(text, last=1) for text in texts])

    def full(*given):
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(model, "further", full)
    torch.testing.assert_close(model.endings(texts, 1), whole)
    with pytest.raises(torch.OutOfMemoryError):
        model.endings(texts.repeat(1, 2, 1), 1)


GRAPHS = ["rope", "rope-logn", "alibi", "t5", "kerple-log", "window", "shaw"]


@pytest.mark.sample(3)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", GRAPHS)
def test_what_training_calls_is_one_graph(name):
    """With the states after each layer, and the same gradients."""
    torch.compiler.reset()
    model = gpt(name)
    tokens = torch.randint(50, (2, 40))
    grads = []
    for hidden in (model.hidden, torch.compile(model.hidden, backend="eager", fullgraph=True)):
        model.zero_grad()
        states: list[torch.Tensor] = []
        (hidden(tokens, states).square().sum() + states[0].sum()).backward()
        grads.append([p.grad for p in model.parameters() if p.grad is not None])
    assert len(grads[0]) == len(grads[1]) > 0
    for a, b in zip(*grads, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-10)
    torch.compiler.reset()


@torch.no_grad()
@pytest.mark.parametrize("scheme", ["nope", "rope"])
def test_a_past_that_later_tokens_change_is_not_read_on(scheme):
    """Parallel windows move the places of tokens in the middle as a text grows."""
    plain = gpt(scheme, length=64)
    model = made(node("extension", "parallel-windows"), "extension")(plain)
    assert not any(model.continues(2, known, known + 16) for known in (60, 100, 200))
    assert plain.continues(2, 100, 116)


@torch.no_grad()
def test_ranks_that_see_the_whole_text_are_never_read_on_and_generation_ends():
    model = made(node("extension", "ms-poe"), "extension")(gpt("rope", length=32))
    assert not any(model.continues(1, known, known + 16) for known in range(40, 90, 7))
    prompts = [np.random.default_rng(n).integers(50, size=60) for n in range(4)]
    assert (greedy(model, prompts, 4, 4096) >= 0).all()

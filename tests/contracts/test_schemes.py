"""The contract of every scheme in conf/scheme, in float64 unless said otherwise. Excuses are data:
tests/support/exceptions.py.
"""

from functools import partial

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from extrap.audit import contracts
from extrap.audit.contracts import close, definition, qkvx, tokens
from extrap.model import attention as kernels
from extrap.model.decoder import Decoder
from extrap.model.gpt import GPT
from extrap.model.parts import kind, parts
from extrap.model.past import Past
from extrap.model.scheme import Where
from extrap.utils.errors import UserError
from tests.support.discover import gpt, names, scheme
from tests.support.exceptions import EXCUSED
from tests.support.largest import growth

SCHEMES = names("scheme")
T = 40
pytestmark = [
    pytest.mark.filterwarnings("ignore::UserWarning:extrap"),
    pytest.mark.sample(22),
    pytest.mark.parametrize("name", SCHEMES),
]


@pytest.fixture(autouse=True)
def strict_excuses(request):
    """An excused check must fail, so that an excuse cannot outlive its reason."""
    name = request.node.callspec.params.get("name")
    check = request.node.originalname.removeprefix("test_")
    if (reason := EXCUSED.get((name, check))) is not None:
        request.applymarker(pytest.mark.xfail(reason=reason, strict=True))


@pytest.fixture(autouse=True)
def no_gradients():
    with torch.no_grad():
        yield


def test_a_text_read_on_from_its_past_is_the_whole_text(name):
    """A past of the whole text serves all that begin like it; a past of its first tokens serves
    the whole text, unless its length counts.
    """
    model, text, known = gpt(name), tokens(), 23
    whole, past = model(text)[:, known:], Past()
    model.hidden(text, last=1, past=past)
    close(model.further(text, T - known, past.first(known)), whole)
    past = Past()
    model.further(text[:, :known], 1, past)
    apart = (model.further(text, T - known, past) - whole).abs().max()
    assert model.continues(2, known, T) == bool(apart < 1e-6)


def test_kernels_equal_the_definition(name):
    contracts.kernel(partial(gpt, name))


def test_grouped_keys_equal_repeated_ones(name, monkeypatch):
    """Two heads of keys for four of queries: every kernel gives what it gives where each group is
    written down once for each head that reads it. A scheme without such a form says so in a line.
    """
    try:
        model = gpt(name, kv_heads=2)
    except UserError as refused:
        if "model.kv_heads=2" in str(refused) and "give model.kv_heads=null" in str(refused):
            return
        raise
    q, k, v, x = qkvx(model)
    k, v = k[:, :2], v[:, 2:]
    at = model.where(tokens()).at_layer(1, x)
    for rows in (5, 256):
        monkeypatch.setattr(kernels, "ROWS", rows)
        every = {kernels.kernel(model.scheme, at)}
        if not model.scheme.uses("attend", "score", "normalise", "mix"):
            every |= {kernels.masked, kernels.explicit}
        repeated = [torch.stack([z[:, 0], z[:, 0], z[:, 1], z[:, 1]], 1) for z in (k, v)]
        for kernel in every:
            close(kernel(model.scheme, q, k, v, at), model.scheme.attend(q, *repeated, at), 1e-12)
    assert model(tokens()).isfinite().all()


def test_heads_that_do_not_fill_the_width(name):
    """Four heads of 12 channels in a width of 32, as in Qwen3 and Gemma: defined or refused."""
    try:
        model = gpt(name, head_width=12)
    except UserError as refused:
        if str(refused).startswith("scheme"):
            return
        raise
    assert model(tokens()).shape == (2, T, 50)


def test_kernel_gradients_equal_those_of_the_definition(name):
    contracts.gradients(partial(gpt, name))


def test_causality(name):
    contracts.causal(partial(gpt, name))


def test_prefix_consistency(name):
    contracts.prefix(partial(gpt, name))


def test_a_text_is_read_the_same_beside_another(name):
    contracts.beside(partial(gpt, name))


def test_last_is_the_tail_of_the_full_pass(name):
    model, x = gpt(name), tokens()
    close(model(x, last=3), model(x)[:, -3:])


def test_texts_that_begin_alike_are_read_as_each_alone(name):
    model, x = gpt(name), tokens()
    texts = torch.stack([x, x, x])
    for text, differs in zip(texts, (5, 25), strict=False):
        text[:, differs:] = tokens(seed=1)[:, differs:]
    close(model.endings(texts, 3), torch.stack([model(text)[:, -3:] for text in texts]))


def test_shift_invariance_is_what_the_card_says(name):
    """Relative schemes do not feel a constant added to all coordinates; absolute ones do."""
    contracts.shifted(partial(gpt, name))


def test_every_parameter_is_reached_by_the_gradient(name):
    contracts.reached(partial(gpt, name))


@torch.enable_grad()
def test_gradients_of_layers_that_are_computed_again(name):
    """The same numbers where the backward computes each layer once more (trainer.recompute)."""
    model, found = gpt(name).train(), []
    for model.recomputed in (False, True):
        torch.manual_seed(0)
        model.zero_grad()
        model(tokens()).square().sum().backward()
        found.append([p.grad.clone() for p in model.parameters()])
    for once, again in zip(*found, strict=True):
        close(once, again)


def test_gradient_free_start_is_finite(name):
    """As constructed, in float32: finite for one token, for the training length, and for a text of
    one repeated token.
    """
    s = scheme(name, gpt(name).scheme.shape)
    model = GPT(s, s.shape.vocab, Decoder(s.shape.dim, s.shape.layers, s.shape.heads)).eval()
    for x in (tokens(1), tokens(64), torch.zeros(1, 64, dtype=torch.long)):
        assert model(x).isfinite().all()


def test_past_the_training_length_defined_or_refused(name):
    contracts.past(partial(gpt, name))


def test_models_share_nothing_and_weights_are_all_that_one_holds(name):
    contracts.apart(partial(gpt, name))


def test_bfloat16(name):
    """Finite, and no farther from float64 than three digits of mantissa explain."""
    contracts.bfloat16(partial(gpt, name))


def test_cards_are_complete(name):
    s = scheme(name, gpt(name).scheme.shape)
    assert kind(s) in ("none", "modifier", "relative", "absolute")
    assert parts(s)


@pytest.mark.sample(25)
@settings(
    max_examples=6,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    database=None,
    derandomize=True,
)
@given(data=st.data())
def test_any_shape_at_any_coordinates(name, data):
    """Drawn heads, widths, layers, lengths and coordinates (gaps of 1 to 5 tokens): the kernel is
    the definition, and causal.
    """
    heads, pairs = data.draw(st.sampled_from([1, 2, 3, 4, 6])), data.draw(st.integers(1, 4))
    layers, n = data.draw(st.integers(2, 4)), data.draw(st.integers(1, 20))
    try:
        model = gpt(name, dim=heads * pairs * 4, heads=heads, layers=layers, length=128)
    except UserError as refused:  # a width that a scheme cannot split is named, never guessed
        if str(refused).startswith("scheme"):
            return
        raise
    t = torch.tensor(
        data.draw(st.lists(st.integers(1, 5), min_size=n, max_size=n)), dtype=torch.float64
    ).cumsum(0)
    q, k, v, x = qkvx(model, n)
    sees = model.scheme.sees if model.scheme.uses("sees") else None
    at = Where.whole(t, model.scheme.scale, tokens=tokens(n), sees=sees).at_layer(
        data.draw(st.integers(0, layers - 1)), x
    )
    out = kernels.attention(model.scheme, q, k, v, at)
    close(out, definition(model.scheme, q, k, v, at), 1e-11)
    k[:, :, -1] += 1
    v[:, :, -1] += 1
    assert torch.equal(kernels.attention(model.scheme, q, k, v, at)[:, :, :-1], out[:, :, :-1])


@pytest.mark.sample(20)
def test_memory_grows_linearly(name, monkeypatch):
    """Four times the length, at most 4.5 times the largest tensor."""
    monkeypatch.setattr(kernels, "ROWS", 16)
    model = gpt(name, length=1024, dtype=torch.float32)
    assert growth(lambda n: model(tokens(n, batch=1), last=1), 256, 1024) <= 4.5

"""The adapter against transformers' own classes: a tiny random model of every decoder family that
extrap/pretrained/README.md lists.
"""

from copy import deepcopy

import pytest
import torch
from torch.nn import functional as F

from extrap.extensions.all_layers import AllLayers
from extrap.extensions.by_parts import YaRN
from extrap.extensions.interpolation import Interpolation
from extrap.extensions.longrope import LongRoPE
from extrap.extensions.ntk import NTK
from extrap.extensions.rerope import ReRoPE
from extrap.extensions.self_extend import SelfExtend
from extrap.model.inspection import InspectedModel
from extrap.model.scheme import OutOfRange
from extrap.pretrained.adapter import adapt
from extrap.utils.errors import UserError
from tests.support import tiny_families as families

L, INSIDE, PAST, FACTOR = families.L, 60, 150, 4.0
TOKENS = torch.randint(61, (2, PAST), generator=torch.Generator().manual_seed(5))
EVERY = families.listed()
REACHED = [f for f, says in EVERY.items() if not says.startswith(("logits", "not made"))]
ADAPTED = [f for f in REACHED if not EVERY[f].startswith("a GPT of ours")]
TURNING = [f for f in ADAPTED if EVERY[f] != "no layer turns"]
"""Families whose layers turn, at least in part."""


def close(found, expected, size=1.0):
    torch.testing.assert_close(found, expected, atol=1e-4 * size, rtol=1e-4)


def own_logits(model, tokens):
    return model(input_ids=tokens, use_cache=False).logits


def unsettled(model, tokens, expected):
    """How far the logits of each token (B, T) move in a model whose weights are rounded otherwise:
    where two experts are nearly as good, and where a norm divides by next to nothing, far.
    """
    moved = torch.zeros(tokens.shape)
    for seed in range(3):
        other = deepcopy(model)
        draws = torch.Generator().manual_seed(seed)
        for p in other.parameters():
            p.mul_(1 + 6e-8 * torch.randn(p.shape, generator=draws))
        apart = (own_logits(other, tokens) - expected).abs().amax(-1)
        moved = moved.maximum(apart)
    return moved


def close_where_settled(found, expected, size, model, tokens):
    """`close`, but at tokens that move as far in the model itself as its weights are rounded."""
    apart = (found - expected).abs().amax(-1)
    off = apart > 1e-4 * size
    if bool(off.any()):
        settled = ~off | (unsettled(model, tokens, expected) < apart)
        assert settled.float().mean() > 0.9
        found, expected = found[settled], expected[settled]
    close(found, expected, size)


@torch.no_grad()
@pytest.mark.sample(6)
@pytest.mark.parametrize("family", REACHED)
def test_logits_are_those_of_the_family(family):
    """Within L, past every window and past L; and the model of the caller stays as it was."""
    model = families.made(family)
    before = own_logits(model, TOKENS[:, :INSIDE])
    ours = adapt(model, L)
    assert families.described(ours) == EVERY[family]
    assert before.std() > 0.05
    for n in (1, 7, INSIDE, PAST):
        try:
            found = ours(TOKENS[:, :n])
        except OutOfRange:
            assert n > INSIDE
            continue
        close(found, own_logits(model, TOKENS[:, :n]), max(1.0, float(before.std())))
    close(ours(TOKENS[:, :INSIDE], last=3), before[:, -3:], max(1.0, float(before.std())))
    losses = ours.losses(TOKENS[:, : INSIDE - 1], TOKENS[:, 1:INSIDE])
    expected = F.cross_entropy(
        before[:, :-1].transpose(1, 2), TOKENS[:, 1:INSIDE], reduction="none"
    )
    close(losses, expected, max(1.0, float(before.std())))
    assert torch.equal(own_logits(model, TOKENS[:, :INSIDE]), before)


@torch.no_grad()
@pytest.mark.parametrize("family", ["gemma3n_text", "gemma4_text", "gemma4_unified_text"])
def test_layers_that_share_keys_and_values_are_read(family):
    """The last layers take keys and values of the layers before; their masks pass an index."""
    model = families.made(family, num_kv_shared_layers=2)
    ours = adapt(model, L)
    assert [len(layer.inputs) for layer in ours.layers] == [3, 3, 1, 1]
    assert [layer.window for layer in ours.layers] == [families.WINDOW, None] * 2
    for n in (1, INSIDE, PAST):
        expected = own_logits(model, TOKENS[:, :n])
        close(ours(TOKENS[:, :n]), expected, max(1.0, float(expected.std())))


def scaled(model, **rope):
    """The same weights under transformers' own scaling of every rotation; None where its config
    has no plain one to scale.
    """
    import transformers

    config = deepcopy(model.config)
    plain = getattr(config, "rope_parameters", None) or {}
    nested = [v for v in plain.values() if isinstance(v, dict)] or [plain]
    if any(
        one.get("rope_type", "default") != "default" or "rope_theta" not in one for one in nested
    ):
        return None
    for one in nested:
        one.update(rope, original_max_position_embeddings=L)
    if getattr(config, "original_max_position_embeddings", None) is not None:
        config.original_max_position_embeddings = L
    made = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
    made.load_state_dict(model.state_dict())
    return made


@torch.no_grad()
@pytest.mark.sample(4)
@pytest.mark.parametrize("family", TURNING)
def test_interpolation_ntk_and_yarn_are_those_of_transformers(family):
    """Acting on all layers, as a config does, with the temperature of YaRN and LongRoPE: on a part
    of the channels, under caps on logits and with a norm behind the rotation, too.
    """
    model = families.made(family)
    ours = adapt(model, L)
    s = FACTOR * PAST / L - (FACTOR - 1)  # of a dynamic scaling at this length
    turns = {"beta_fast": 2.0, "beta_slow": 0.5}
    count = len(next(layer.pairs for layer in ours.layers if len(layer.pairs)))
    long = {"long_factor": [3.0] * count, "short_factor": [1.0] * count}
    pairs = [
        (Interpolation(FACTOR), {"rope_type": "linear", "factor": FACTOR}),
        (NTK(s), {"rope_type": "dynamic", "factor": FACTOR}),
        (
            YaRN(FACTOR, beta_fast=2.0, beta_slow=0.5, slope=0.0),
            {"rope_type": "yarn", "factor": FACTOR, "attention_factor": 1.0} | turns,
        ),
        (
            YaRN(FACTOR, beta_fast=2.0, beta_slow=0.5),
            {"rope_type": "yarn", "factor": FACTOR} | turns,
        ),
        (
            LongRoPE(FACTOR, [3.0] * count),
            {"rope_type": "longrope", "factor": FACTOR} | long,
        ),
    ]
    for extension, rope in pairs if count > 1 else pairs[:1]:
        theirs = scaled(model, **rope)
        if theirs is None:
            pytest.skip("its config has no plain rotation")
        try:
            expected, short = (own_logits(theirs, TOKENS[:, :n]) for n in (PAST, INSIDE))
        except KeyError:
            pytest.skip("its rotary module has no such scaling")
        found = AllLayers(extension)(ours)
        heated = rope["rope_type"] in ("yarn", "longrope") and "attention_factor" not in rope
        rounding = 10 if heated else 1  # a temperature magnifies it
        size = rounding * max(1.0, float(expected.std()))
        close_where_settled(found(TOKENS), expected, size, theirs, TOKENS)
        if heated:
            close(found(TOKENS[:, :INSIDE]), short, rounding * max(1.0, float(short.std())))


@torch.no_grad()
def test_the_temperature_of_yarn_is_that_of_transformers():
    """Where all channels turn, and no norm comes behind."""
    model = families.made("smollm3", layer_types=["full_attention"] * 4, no_rope_layers=[1] * 4)
    turns = {"beta_fast": 2.0, "beta_slow": 0.5}
    theirs = scaled(model, rope_type="yarn", factor=FACTOR, **turns)
    found = YaRN(FACTOR, beta_fast=2.0, beta_slow=0.5)(adapt(model, L))(TOKENS)
    close(found, own_logits(theirs, TOKENS))


def looped(distance, layers):
    """Returns a hook that computes attention pair by pair, on unrotated queries and keys.
    distance: of a query and a key; layers: what the probe found.
    """

    def attend(part, q, k, v, at):
        layer = layers[at.layer]
        k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v))
        out = torch.zeros_like(q)
        for i in range(q.shape[2]):
            d = torch.tensor([distance(i, j) for j in range(i + 1)]).double()
            keys = turned(k[:, :, : i + 1], -d, layer)
            s = (q[:, :, i : i + 1] * keys).sum(-1) * at.scale
            out[:, :, i] = (s.softmax(-1)[..., None] * v[:, :, : i + 1]).sum(2)
        return out

    return attend


def turned(x, t, layer):
    """Pair by pair."""
    out = x.clone()
    for n, (a, b) in enumerate(layer.pairs.tolist()):
        angle = t * layer.theta(L)[n]
        cos, sin = angle.cos().to(x), angle.sin().to(x)
        out[..., a] = x[..., a] * cos - x[..., b] * sin
        out[..., b] = x[..., b] * cos + x[..., a] * sin
    return out


@pytest.mark.sample(6)
@torch.no_grad()
@pytest.mark.parametrize(
    "family", ["llama", "smollm3", "cohere", "glm4", "deepseek_v3", "nanochat"]
)
@pytest.mark.parametrize("name", ["rerope", "self-extend"])
def test_distance_maps_are_double_loops(family, name):
    ours = adapt(families.made(family), 16)
    n, W, G = 40, 8, 4
    extension = ReRoPE(W) if name == "rerope" else SelfExtend(window=W, group=G)
    maps = {
        "rerope": lambda i, j: min(i - j, W),
        "self-extend": lambda i, j: i - j if i - j < W else i // G - j // G + W - W // G,
    }
    found = extension(ours)(TOKENS[:, :n])
    inside = InspectedModel(ours, ours, lambda layers: ours)
    expected = inside(TOKENS[:, :n], attend=looped(maps[name], ours.layers))
    close(found, expected, max(1.0, float(expected.std())))
    assert (found - ours(TOKENS[:, :n])).abs().max() > 1e-3 * expected.std()


@torch.no_grad()
@pytest.mark.sample(4)
@pytest.mark.parametrize("family", TURNING)
def test_layers_without_positions_are_untouched(family):
    """No method changes their queries and keys."""
    ours = adapt(families.made(family), L)
    for extension in (Interpolation(FACTOR), ReRoPE(4)):
        extended = AllLayers(extension)(ours)
        for n, layer in enumerate(ours.layers):
            q = torch.randn(1, layer.heads, 20, layer.width)
            at = ours.where(TOKENS[:1, :20]).at_layer(n, q)
            changed = extended.scheme.rotate(q, q, at)[0][..., : layer.width]
            assert torch.equal(changed, q) is (len(layer.pairs) == 0), n


@torch.no_grad()
@pytest.mark.sample(4)
@pytest.mark.parametrize("family", ADAPTED)
def test_weights_of_attention_sum_to_one(family):
    ours = adapt(families.made(family), L)
    inside = InspectedModel(ours, ours, lambda layers: ours)
    total = inside.attention(TOKENS[:, :20]).sum(-1)
    assert len(total) == len(ours.layers)
    if "sinks" in EVERY[family]:
        assert (total <= 1 + 1e-5).all() and (total < 0.999).any()
    else:
        close(total, torch.ones_like(total))


def test_gradients_are_those_of_the_family():
    """Of the weights, with layers computed again, and of the input of the first layer."""
    grads = []
    for again in (None, False, True):
        model = families.made("smollm3").train()
        ours = adapt(model, L)
        if again is None:
            logits = model(TOKENS[:, :40]).logits
        else:
            ours.recomputed = again
            logits = ours(TOKENS[:, :40])
        F.cross_entropy(logits[:, :-1].transpose(1, 2), TOKENS[:, 1:40]).backward()
        grads.append({name: p.grad for name, p in model.named_parameters()})
    for name, expected in grads[0].items():
        close(grads[1][name], expected)
        close(grads[2][name], expected)
    inside = InspectedModel(ours, ours, lambda layers: ours)
    reach = inside.gradient(TOKENS[:, :20], TOKENS[:, 20])
    assert reach.shape == (2, 20) and (reach > 0).all()


@torch.no_grad()
@pytest.mark.parametrize(
    ("family", "takes"),
    [
        ("gpt_bigcode", True),
        ("biogpt", True),
        ("ctrl", True),
        ("marian", False),
        ("roberta", False),
        ("jamba", None),
    ],
)
def test_positions_that_a_model_adds_by_itself_jump(family, takes):
    """Marian and RoBERTa count them from elsewhere, Jamba has none."""
    model, text = families.made(family), TOKENS[:, :20]
    ours = adapt(model, L)
    inside = InspectedModel(ours, ours, lambda layers: ours)
    if takes is False:
        with pytest.raises(OutOfRange, match="counts by itself cannot jump"):
            inside.jumped(text, 10, 30, 5)
        return
    places = torch.arange(20) + 30 * (torch.arange(20) >= 10) * bool(takes)
    mask = {} if not takes else {"attention_mask": torch.ones_like(text)}  # one text, not two
    expected = model(input_ids=text, position_ids=places[None], use_cache=False, **mask).logits
    close(inside.jumped(text, 10, 30, 5), expected[:, -5:], max(1.0, float(expected.std())))
    close(inside.jumped(text, 10, 0, 5), own_logits(model, text)[:, -5:], float(expected.std()))


@pytest.mark.parametrize("family", ["lfm2_moe", "olmo_hybrid"])
def test_gradients_of_a_hybrid_end_at_its_first_layer(family):
    """A layer that has no attention."""
    model, text, target = families.made(family), TOKENS[:, :20], TOKENS[:, 20]
    ours = adapt(model, L)
    assert ours.layers[0].block == "model.layers.1"
    found = InspectedModel(ours, ours, lambda layers: ours).gradient(text, target)
    roots = []

    def rooted(module, args, more):
        roots.append(args[0].detach().requires_grad_())
        return (roots[0], *args[1:]), more

    with model.model.layers[0].register_forward_pre_hook(rooted, with_kwargs=True):
        logits = own_logits(model, text)[:, -1]
    chosen = logits.gather(1, target[:, None]).sum()
    (slope,) = torch.autograd.grad(chosen, roots)
    close(found, slope.norm(dim=-1), float(found.max()))


@pytest.mark.parametrize(
    ("family", "options", "expected"),
    [
        (
            "laguna",
            {"num_attention_heads_per_layer": [4, 8, 4, 8]},
            "task: wants as many heads in every layer, and layers 0, 2 have 4, layers 1, 3 have 8;",
        ),
        ("gemma3n_text", {}, "model_type=gemma3n_text: layer 0 reads 4 axes of numbers, the task"),
    ],
)
def test_layers_that_a_task_cannot_look_into_are_named(family, options, expected):
    ours = adapt(families.made(family, **options), L)
    inside = InspectedModel(ours, ours, lambda layers: ours)
    text, target = TOKENS[:, :20], TOKENS[:, 20]
    with pytest.raises(UserError) as error:
        _ = inside.attention(text), inside.gradient(text, target)
    assert str(error.value).startswith(expected) and "\n" not in str(error.value)


@torch.no_grad()
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_read(dtype):
    model = families.made("olmo2").to(dtype)
    ours = adapt(model, L)
    assert ours(TOKENS).dtype is dtype

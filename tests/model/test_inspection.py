"""Looking inside: weights that reproduce the forward of every scheme, gradients that agree with
finite differences.
"""

import pytest
import torch

from extrap.model.gpt import GPT
from extrap.model.inspection import InspectedModel, defined
from extrap.model.scheme import Where
from tests.support.discover import gpt, names

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:extrap")

LENGTH = 20
TOKENS = torch.randint(0, 50, (2, LENGTH), generator=torch.Generator().manual_seed(1))


def inspected(model: GPT, **more) -> InspectedModel:
    return InspectedModel(model, model, lambda layers: model, **more)


@pytest.mark.parametrize("name", names("scheme"))
def test_the_weights_that_are_shown_are_those_of_the_forward(name):
    model = gpt(name)
    plain, seen, kept = model(TOKENS), inspected(model), {}
    found = seen(TOKENS, attend=defined(kept))
    torch.testing.assert_close(found, plain, rtol=1e-8, atol=1e-8)
    assert len(kept) == len(model.blocks)
    a = seen.attention(TOKENS)
    assert a.shape == (2, 2, 4, LENGTH, LENGTH)
    assert a.min() >= 0 and a.triu(1).abs().max() == 0
    assert a.sum(-1).max() <= 1 + 1e-9
    torch.testing.assert_close(model(TOKENS), plain, rtol=0, atol=0)


def nudged(place: tuple[int, int], by: float):
    """Returns a hook that moves one number of the input of the first layer by a little."""

    def embed(part, x: torch.Tensor, at: Where) -> torch.Tensor:
        x = part.embed(x, at)
        if at.layer == 0:
            x = x.clone()
            x[:, place[0], place[1]] += by
        return x

    return embed


def differences(model: GPT, tokens: torch.Tensor, of) -> torch.Tensor:
    """(B, T, C, ...) central differences of of(last hidden state) by every number that the first
    layer reads.
    """
    seen, width, out = inspected(model), model.embedding.weight.shape[1], []
    for j in range(tokens.shape[1]):
        for c in range(width):
            both = []
            for by in (1e-5, -1e-5):
                with torch.no_grad():
                    both.append(of(seen.hidden(tokens, embed=nudged((j, c), by))[:, -1]))
            out.append((both[0] - both[1]) / 2e-5)
    return torch.stack(out, 1).unflatten(1, (tokens.shape[1], width))


@pytest.mark.parametrize(
    "name", ["rope", "alibi", "learned", "linear-rope", "cope", "complex-order", "softmax-1"]
)
def test_gradients_are_finite_differences(name):
    model, tokens = gpt(name, dim=16, heads=2), TOKENS[:, :5]
    jacobian = differences(model, tokens, lambda h: h).square().sum((2, 3)).sqrt()
    torch.testing.assert_close(
        inspected(model).jacobian(tokens, torch.eye(16)), jacobian, rtol=1e-5, atol=1e-6
    )
    targets = torch.tensor([3, 7])
    logit = differences(
        model, tokens, lambda h: model.logits(h).gather(1, targets[:, None])[:, 0]
    ).norm(dim=2)
    torch.testing.assert_close(
        inspected(model).gradient(tokens, targets), logit, rtol=1e-5, atol=1e-6
    )


def test_random_probes_estimate_the_norm():
    from extrap.tasks.diagnosis.attention_stats import probes

    model = gpt("rope")
    exact = inspected(model).jacobian(TOKENS, torch.eye(32))
    torch.testing.assert_close(inspected(model).jacobian(TOKENS, probes(32, 32)), exact)
    squares = [
        inspected(model).jacobian(TOKENS, probes(8, 32, seed)).square() for seed in range(40)
    ]
    torch.testing.assert_close(torch.stack(squares).mean(0), exact.square(), rtol=0.3, atol=0)


def test_without_the_mask_every_query_sees_every_key():
    model = gpt("rope")
    seen = InspectedModel(model, model, lambda layers: model).untrained(causal=False)
    a = seen.attention(TOKENS)
    assert a.min() > 0
    torch.testing.assert_close(a.sum(-1), torch.ones_like(a.sum(-1)))
    assert (seen.jacobian(TOKENS, torch.eye(32)) > 0).all()
    assert seen.orderless and not inspected(gpt("alibi")).orderless
    assert not inspected(gpt("path")).orderless  # a product over the tokens between


@pytest.mark.parametrize("name", ["rope", "nope", "alibi", "xpos"])
def test_clusters_are_cosines_of_means_of_turned_queries_and_keys(name):
    model = gpt(name)
    seen, kept = inspected(model), []

    def attend(part, q, k, v, at):
        kept.append(part.rotate(q, k, at))
        return part.attend(q, k, v, at)

    with torch.no_grad():
        seen.hidden(TOKENS, attend=attend)
    found = seen.clusters(TOKENS)
    assert {*found} == {0, 1}
    for layer, (q, k) in enumerate(kept):
        for b in range(2):
            for h in range(4):
                a, c = (sum(z[b, h, t] for t in range(LENGTH)) for z in (q, k))
                expected = (a @ c) / (a @ a).sqrt() / (c @ c).sqrt()
                torch.testing.assert_close(found[layer][b, h], expected)


def test_layers_that_own_their_attention_have_no_clusters():
    assert inspected(gpt("delta-rule")).clusters(TOKENS) == {}

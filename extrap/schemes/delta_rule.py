"""Gated delta rule: a linear attention that corrects its memory, and forgets by gates; without
positions. arXiv 2412.06464 (Gated DeltaNet).

S_t = a_t S_{t-1} (I - b_t k_t k_t^T) + b_t v_t k_t^T,   o_t = S_t q_t / sqrt(D),   S_t (D, D)
a_t = exp(-exp(A) softplus(W_a x_t + c)),   b_t = sigmoid(W_b x_t)    (x: normed input of the layer)
q_t, k_t = unit(silu(conv(.)));   values as they are
At first each head draws e^A, uniform in (0, 16), and softplus(c), log-uniform in (.001, .1), and
W_a and W_b are uniform within C^-.5, as in the authors' code: most gates lie between .2 and 1. The
bias of their W_b is left out.
The recurrence alone tells the order of tokens. Time and memory are linear in the length.

A chunk at once: with g_t = a_1 .. a_t in the chunk and S the state before it, the corrections u_t =
b_t (v_t - a_t S_{t-1} k_t) solve (I + N) U = b (V - g K S^T), N_ts = b_t (g_t / g_s) <k_t, k_s>,
s < t;  o_t = g_t S q_t + sum_{s <= t} (g_t / g_s) <k_s, q_t> u_s.
"""

from math import log

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from extrap.model.functional import causal_convolution, in_full
from extrap.model.scheme import Scheme, Shape, Size, Where, wide

CHUNK = 64
FASTEST, LEAST = 16, 1e-4
"""The greatest e^A at first, and the least."""
PACES = (0.001, 0.1)
"""The least softplus(c) at first, and the greatest."""


class GatedDeltaRule(Scheme):
    """A gated delta rule: linear attention that corrects its memory and forgets by gates.

    Args:
        taps: tokens in the convolutions of queries and keys, the current one among them

    Owns attention. Parameters: 2 taps H D + 2 C H + 2 H per layer. The paper also convolves values,
    and norms and gates the output; this class does not, so that its output is linear in the values.
    The first taps are N(0, 1 / taps), those of the authors' code uniform within taps^-.5.
    Needs the causal mask.

    Kind: relative
    Used by: Qwen3-Next, Qwen3.5, OLMo Hybrid (in most layers)
    Past L: defined; a state of fixed size
    """

    causal_only = True

    def __init__(self, shape: Shape, taps: Size = 4):
        super().__init__(shape)
        layers = shape.layers
        H = shape.heads
        C = shape.dim
        channels = H * shape.head_dim
        taps_start = torch.randn(layers, 2, channels, taps)
        self.taps = nn.Parameter(taps_start * taps**-0.5)
        widest = C**-0.5
        self.wa = nn.Parameter(torch.empty(layers, H, C).uniform_(-widest, widest))
        self.wb = nn.Parameter(torch.empty(layers, H, C).uniform_(-widest, widest))
        rate = torch.rand(layers, H) * FASTEST
        self.A = nn.Parameter(rate.clamp(min=LEAST).log())
        pace = torch.empty(layers, H).uniform_(*map(log, PACES)).exp()
        self.c = nn.Parameter(pace.expm1().log())  # softplus(c) = pace

    def attend(self, q: Tensor, k: Tensor, v: Tensor, at: Where) -> Tensor:
        q = wide(self.key(q, 0, at.layer))
        k = wide(self.key(k, 1, at.layer))
        log_a, b = self.gates_of(at.x, at.layer)
        values = (q * at.scale, k, wide(v), log_a, b)
        with in_full(q):
            o, _ = read(*values, state=self.first_state(*values))
        return o.to(v.dtype)

    def gates_of(self, x: Tensor, layer: int) -> tuple[Tensor, Tensor]:
        """Returns ln a and b, (B, H, T) each, from x (B, T, C)."""
        wa = self.wa[layer].to(x.dtype)
        wb = self.wb[layer].to(x.dtype)
        A = self.A[layer].to(x.dtype)
        c = self.c[layer].to(x.dtype)
        pace = F.softplus(F.linear(x, wa, c))
        log_a = -A.exp() * pace
        b = F.linear(x, wb).sigmoid()
        return wide(log_a.transpose(1, 2)), wide(b.transpose(1, 2))

    def first_state(self, *values: Tensor) -> Tensor | None:
        """Returns the state (B, H, E, D) from which texts start; None for 0."""
        return None

    def key(self, z: Tensor, n: int, layer: int) -> Tensor:
        """Returns (B, H, T, D) convolved, as unit vectors; n = 0 for queries, 1 for keys."""
        taps = self.taps[layer, n].to(z.dtype)
        flat = z.transpose(1, 2).flatten(2)
        convolved = causal_convolution(flat, taps)
        of_tokens = F.silu(convolved).unflatten(-1, (self.shape.heads, -1))
        unit = F.normalize(of_tokens, dim=-1)
        return unit.transpose(1, 2)


class PassedState(GatedDeltaRule):
    """A gated delta rule with state passing (arXiv 2507.02782): in training, each text starts from
    the state in which other texts left the layer.

    Args:
        texts: other texts of the batch, read one after the other before each text

    So training meets the states of longer texts; a test starts from 0, as without it. No gradient
    flows into the states. The paper tunes a trained model so for 500 steps, and each step takes
    over the states of the step before; here a batch is enough, so that a run can be resumed, and
    the training is whole. A batch of B texts passes B - 1 at most, and one of 1 none.

    Kind: relative
    Past L: defined; states of texts + 1 training lengths were met
    Source: arXiv 2507.02782; arXiv 2412.06464
    """

    def __init__(self, shape: Shape, taps: Size = 4, texts: Size = 7):
        super().__init__(shape, taps)
        self.texts = texts

    @torch.no_grad()
    def first_state(self, *values: Tensor) -> Tensor | None:
        if not self.training:
            return None
        state = None
        others = len(values[0]) - 1
        for _ in range(min(self.texts, others)):
            _, last = read(*values, state=state)
            state = last.roll(1, 0)
        return state


def read(
    q: Tensor, k: Tensor, v: Tensor, log_a: Tensor, b: Tensor, state: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Computes o (B, H, T, E) and the last state (B, H, E, D), chunk by chunk, from q, k (B, H, T,
    D), v (B, H, T, E), ln a, b and the first state, 0 by default.
    """
    outputs = []
    chunks = [z.split(CHUNK, 2) for z in (q, k, v, log_a, b)]
    for Q, K, V, ln_a, b_t in zip(*chunks, strict=True):
        log_g = ln_a.cumsum(-1)
        n = log_g.shape[-1]
        after = torch.ones(n, n, dtype=torch.bool, device=q.device).triu(1)
        log_ratio = log_g[..., None] - log_g[..., None, :]
        ratio = log_ratio.masked_fill(after, -torch.inf).exp()
        g = log_g.exp()[..., None]
        beta = b_t[..., None]
        products = beta * ratio * (K @ K.mT)
        system = products.tril(-1)
        target = V
        if state is not None:
            target = V - g * (K @ state.mT)
        u = torch.linalg.solve_triangular(system, beta * target, upper=False, unitriangular=True)
        own = Q @ K.mT * ratio
        o = own @ u
        if state is not None:
            o = o + g * (Q @ state.mT)
        outputs.append(o)
        log_left = log_g[..., -1:] - log_g
        left = log_left.exp()[..., None]
        added = (u * left).mT @ K
        if state is None:
            state = added
        else:
            state = g[..., -1:, :] * state + added
    assert state is not None
    return torch.cat(outputs, 2), state

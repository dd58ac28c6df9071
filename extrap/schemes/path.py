"""PaTH: a product of Householder-like reflections between query and key, one per token, made of the
data. arXiv 2505.16381.

l_ij = <k_j, H_{j+1} H_{j+2} .. H_i q_i> / sqrt(D),   H_t = I - b_t w_t w_t^T
w_t = unit(silu(conv(V U x_t))),   b_t = 2 sigmoid(beta x_t + c)    (x: normed input of the layer)
b = 0 is NoPE; b = 1 removes the part along w, b = 2 reflects it. PaTH-FoX is the stack of this and
the forget gates of forgetting.py. There ln f is added after the 1 / sqrt(D), as in forgetting
attention; fla's kernel of PaTH scales the sum of both, so its gates count 1 / sqrt(D) as much.

Products of neighbours have the compact form H_s .. H_t = I - W^T M W, M = (I + B striu(W W^T))^-1 B
with B = diag(b), rows of W the w's (UT transform). With it a block of query rows walks back over
chunks of keys, in memory linear in the length.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from extrap.model.functional import causal_convolution, in_full
from extrap.model.scheme import Scheme, Shape, Size, Where, wide

CHUNK = 64


class PaTH(Scheme):
    """A product of Householder-like reflections between query and key, one for each token.

    Args:
        rank: of V U
        taps: tokens in the convolution of w, the current one among them

    The first weights let silu see unit variance; fla's are N(0, .02**2), for which silu is nearly
    linear and the w of two tokens have no common direction. Each head of queries has its w; fla's
    kernel has one for each head of keys, which differs where heads share keys. Parameters: rank (C
    + H D) + taps H D + (C + 1) H per layer. Needs the causal mask.

    Kind: relative
    Past L: defined; products of more reflections than in training
    """

    causal_only = True

    def __init__(self, shape: Shape, rank: Size = 32, taps: Size = 3):
        super().__init__(shape)
        layers = shape.layers
        H = shape.heads
        D = shape.head_dim
        C = shape.dim
        down_start = torch.randn(layers, rank, C)
        up_start = torch.randn(layers, H * D, rank)
        taps_start = torch.randn(layers, H * D, taps)
        beta_start = torch.randn(layers, H, C)
        self.down = nn.Parameter(down_start * C**-0.5)
        self.up = nn.Parameter(up_start * rank**-0.5)
        self.taps = nn.Parameter(taps_start * taps**-0.5)
        self.beta = nn.Parameter(0.02 * beta_start)
        self.c = nn.Parameter(torch.zeros(layers, H))

    def score(self, q: Tensor, k: Tensor, at: Where) -> Tensor:
        q = wide(q)
        k = wide(k)
        w, b = self.reflections(at.x, at.layer)
        w = w[:, :, at.j].to(q.dtype)
        b = b[:, :, at.j].to(q.dtype)
        with in_full(q):
            return self.products(q, k, w, b, at) * at.scale

    def reflections(self, x: Tensor, layer: int) -> tuple[Tensor, Tensor]:
        """Returns w (B, H, T, D), unit vectors, and b (B, H, T) in 0 .. 2, from x (B, T, C)."""
        down = self.down[layer].to(x.dtype)
        up = self.up[layer].to(x.dtype)
        taps = self.taps[layer].to(x.dtype)
        beta = self.beta[layer].to(x.dtype)
        c = self.c[layer].to(x.dtype)
        projected = x @ down.T @ up.T
        convolved = causal_convolution(projected, taps)
        w = F.silu(convolved)
        w = w.unflatten(-1, (self.shape.heads, -1))
        w = F.normalize(w, dim=-1)
        b = 2 * F.linear(x, beta, c).sigmoid()
        return w.transpose(1, 2), b.transpose(1, 2)

    def products(self, q: Tensor, k: Tensor, w: Tensor, b: Tensor, at: Where) -> Tensor:
        """Returns <k_j, H_{j+1} .. H_i q_i> (B, H, Tq, Tk), chunk by chunk towards the start."""
        first = int(at.i[0])
        n = len(at.i)
        own = slice(first, first + n)
        m = middle(w[:, :, own], b[:, :, own])
        own_w = w[:, :, own]
        own_k = k[:, :, own]
        through = (q @ own_w.mT).tril() @ m
        between = (own_w @ own_k.mT).tril(-1)
        scores = [q @ own_k.mT - through @ between]
        q = q - through @ own_w
        for stop in range(first, 0, -CHUNK):
            start = max(0, stop - CHUNK)
            keys = slice(start, stop)
            W = w[:, :, keys]
            K = k[:, :, keys]
            beta = b[:, :, keys]
            m = middle(W, beta)
            between = (W @ K.mT).tril(-1)
            carried = K - between.mT @ m.mT @ W
            scores.insert(0, q @ carried.mT)
            q = q - q @ W.mT @ m @ W
        return torch.cat(scores, -1)


def middle(w: Tensor, b: Tensor) -> Tensor:
    """Returns M^T (..., n, n), lower triangular, of H_n .. H_1 = I - W^T M^T W."""
    n = w.shape[-2]
    one = torch.eye(n, dtype=w.dtype, device=w.device)
    products = b[..., None] * (w @ w.mT)
    system = one + products.triu(1)
    diagonal = torch.diag_embed(b)
    m = torch.linalg.solve_triangular(system, diagonal, upper=True, unitriangular=True)
    return m.mT

"""The slow reference of everything that rotates: the score written in differences of coordinates,
no rotation in it.
"""

from torch import Tensor


def inner(q: Tensor, k: Tensor, distance: Tensor, theta: Tensor) -> Tensor:
    """(..., Tq, P), one term per pair of <q_i, k_j> turned by distance; q (..., Tq, D), k (..., Tk,
    D) interleaved, sum over pairs.

    sum_p (q0 k0 + q1 k1) cos(n theta_p) + (q0 k1 - q1 k0) sin(n theta_p), n = distance (Tq, Tk) or
    one of its own per pair (Tq, Tk, P).
    """
    q0, q1 = q[..., :, None, 0::2], q[..., :, None, 1::2]
    k0, k1 = k[..., None, :, 0::2], k[..., None, :, 1::2]
    angle = (distance if distance.dim() == 3 else distance[..., None]) * theta
    return (q0 * k0 + q1 * k1) * angle.cos() + (q0 * k1 - q1 * k0) * angle.sin()


def logits(q: Tensor, k: Tensor, distance: Tensor, theta: Tensor) -> Tensor:
    """(..., Tq, Tk) scores before the scale."""
    return inner(q, k, distance, theta).sum(-1)


def between(t: Tensor) -> Tensor:
    """(T, T) differences of the coordinates t (T,)."""
    return t[:, None] - t

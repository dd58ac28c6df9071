"""Time of each attention kernel on the same bias, as ratios to plain causal attention.

python benchmarks/kernels.py [tokens ...]          one thread, forward only, B = 1, H = 4, D = 16
"""

import sys
import time

import torch

from extrap.model import attention as kernels
from extrap.model.scheme import Scheme, Shape, Where
from extrap.model.stack import Stack
from extrap.schemes.alibi import ALiBi
from extrap.schemes.nope import NoPE
from extrap.schemes.sink import SoftmaxOne

SHAPE = Shape(dim=64, heads=4, length=64)
CASES = {
    "fused, no bias": (NoPE(SHAPE), kernels.fused),
    "strided, ALiBi": (ALiBi(SHAPE), kernels.strided),
    "strided, ALiBi + softmax_1": (
        Stack(SHAPE, [ALiBi(SHAPE), SoftmaxOne(SHAPE)]),
        kernels.strided,
    ),
    "masked, ALiBi": (ALiBi(SHAPE), kernels.masked),
    "explicit, ALiBi": (ALiBi(SHAPE), kernels.explicit),
}


def seconds(scheme: Scheme, kernel: kernels.Kernel, T: int) -> float:
    """Median CPU seconds of 9 forwards."""
    q, k, v = torch.randn(3, 1, SHAPE.heads, T, SHAPE.head_dim)
    at = Where.whole(torch.arange(T, dtype=torch.float64), scheme.scale)
    times = []
    for _ in range(9):
        start = time.process_time()
        kernel(scheme, q, k, v, at)
        times.append(time.process_time() - start)
    return sorted(times)[4]


@torch.inference_mode()
def main() -> None:
    torch.set_num_threads(1)
    for T in [int(word) for word in sys.argv[1:]] or [64, 1024, 4096]:
        took = {name: seconds(*case, T) for name, case in CASES.items()}
        for name, each in took.items():
            print(
                f"T = {T:5d}   {name:28s} {each * 1e3:8.2f} ms   "
                f"{each / took['fused, no bias']:5.1f} x"
            )


if __name__ == "__main__":
    main()

"""LoRA: matrices stay as they are and get a low-rank addition, which alone is tuned. arXiv
2106.09685.

W' = W + (alpha / r) B A;   A (r, columns) ~ N(0, 1 / r), B (rows, r) = 0

With B = 0 tuning begins at the model itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from extrap.model.gpt import GPT
from extrap.runs.training.finetune import Tuning
from extrap.utils.bounds import Count, Positive

WITHIN = ".parametrizations.weight."  # how torch names the parts of a weight that is computed


class LowRank(nn.Module):
    """W (rows, columns) -> W + (alpha / rank) B A."""

    def __init__(self, weight: Tensor, rank: int, alpha: float):
        super().__init__()
        rows, columns = weight.shape
        self.scale = alpha / rank
        self.A = nn.Parameter(
            torch.randn(rank, columns, dtype=weight.dtype).to(weight.device) * rank**-0.5
        )
        self.B = nn.Parameter(torch.zeros(rows, rank, dtype=weight.dtype, device=weight.device))

    def forward(self, weight: Tensor) -> Tensor:
        return weight + self.scale * (self.B @ self.A)


def _shared(model: nn.Module, weight: Tensor) -> bool:
    """True if several modules have a weight."""
    own = [p for module in model.modules() for p in module._parameters.values()]
    return sum(p is weight for p in own) > 1


@dataclass(frozen=True, kw_only=True)
class LoRA(Tuning):
    """Low-rank adaptation: matrices stay as they are and get a low-rank addition.

    Args:
        rank: r
        alpha: scale of the addition, in ranks
        targets: matrices by name, each in every block that has it

    Biases, norms and parameters of the scheme stay as they are. A tied head goes with the
    embedding; in a published model it is refused. Raises ValueError for targets that the model does
    not have. Source: arXiv 2106.09685
    """

    lr: Positive = 3e-3
    rank: Count = 8
    alpha: Positive = 16.0
    targets: tuple[str, ...] = ("qkv", "out", "up", "down")

    def adapt(self, model: GPT) -> None:
        matrices: dict[str, Any] = model.matrices()
        names = {name.rpartition(".")[2]: None for name in matrices}
        if not self.targets or not set(self.targets) <= set(names):
            raise ValueError(
                f"targets=[{','.join(self.targets)}]: one or more of {', '.join(names)}, the "
                "matrices of this model"
            )
        model.requires_grad_(False)
        for name, matrix in matrices.items():
            role = name.rpartition(".")[2]
            if role in self.targets:
                if _shared(model, matrix.weight):
                    raise ValueError(
                        f"targets=[{','.join(self.targets)}]: {role} has its weight in common with "
                        "another matrix, and an addition would part them; leave it out"
                    )
                addition = LowRank(matrix.weight, self.rank, self.alpha)
                parametrize.register_parametrization(matrix, "weight", addition)

    def merge(self, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        merged = {name: tensor for name, tensor in weights.items() if WITHIN not in name}
        for name, tensor in weights.items():
            stem, _, end = name.partition(WITHIN)
            if end == "original":
                A, B = (weights[f"{stem}{WITHIN}0.{part}"] for part in "AB")
                merged[f"{stem}.weight"] = tensor + self.alpha / self.rank * (B @ A)
        return merged

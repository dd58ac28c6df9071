"""QK-Restore: every weight is tuned, then queries and keys get their old projections back. arXiv
2606.11052.

W_Q, W_K of before; W_V, W_O and all others as tuned. Tuning on dependencies of short range moves
where heads look, and with it what the model finds far away. We read the method in a report of the
paper's algorithm 1, and of its variants took the plain one.
"""

from collections.abc import Iterable, Mapping
from typing import cast

from torch import Tensor

from extrap.model.block import Block
from extrap.model.gpt import GPT
from extrap.runs.training.finetune import Full
from extrap.utils.errors import UserError


class QKRestored(Full):
    """Fine-tuning of every weight; the run keeps the projections of queries and keys, weight and
    bias, that the model had before.
    """

    def adapt(self, model: GPT) -> None:
        super().adapt(model)
        if not all(isinstance(block, Block) for block in model.blocks):
            problem = "knows the queries and keys of the models of extrap alone"
            raise UserError(
                "finetune", "qk-restore", problem, "give finetune=full or finetune=lora"
            )

    def kept(self, tuned: Mapping[str, Tensor], plain: GPT) -> dict[str, Tensor]:
        found, before = dict(tuned), plain.state_dict()
        for n, block in enumerate(cast("Iterable[Block]", plain.blocks)):
            rows = (block.heads + block.kv_heads) * block.head_dim
            for name in (f"blocks.{n}.qkv.weight", f"blocks.{n}.qkv.bias"):
                if name in before:
                    found[name] = found[name].clone()
                    found[name][:rows] = before[name][:rows]
        return found

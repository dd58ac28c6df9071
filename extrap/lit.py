"""The LightningModule: loss, optimiser, schedule; nothing else."""

import lightning as L
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.distributed.fsdp import fully_shard, register_fsdp_forward_method

from extrap.data.mixture import Batch
from extrap.optim import Optim


class Lit(L.LightningModule):
    """Loss = sum over parts of weight x mean cross-entropy of the part's scored tokens, nats per token.

    Averaged per part and then added: one mean over all tokens would leave the few answers of retrieval untrained.
    """

    def __init__(self, model: nn.Module, optim: Optim, weights: dict[str, float]):
        super().__init__()
        self.model, self.optim, self.weights = model, optim, weights
        self.measured: dict[str, Tensor] = {}

    def training_step(self, batch: Batch, step: int) -> Tensor:
        hidden = self.model.hidden(batch.tokens)
        total = hidden.new_zeros(())
        for part, rows in batch.parts.items():
            targets = batch.targets[rows]
            scored = targets >= 0
            logits = self.model.logits(hidden[rows][scored]).float()
            nll = F.cross_entropy(logits, targets[scored])
            total = total + self.weights[part] * nll
            self.measured[f"{part}/nll"] = nll.detach()
            self.measured[f"{part}/accuracy"] = (logits.detach().argmax(-1) == targets[scored]).float().mean()
        return total

    def configure_model(self) -> None:
        """Where Lightning hands over a mesh of devices, parameters are split among them: those of each block, then the rest."""
        if self.device_mesh is not None:
            mesh = self.device_mesh["data_parallel"]
            for block in self.model.blocks:
                fully_shard(block, mesh=mesh)
            fully_shard(self, mesh=mesh)
            register_fsdp_forward_method(self, "training_step")

    def transfer_batch_to_device(self, batch: Batch, device: torch.device, dataloader_idx: int) -> Batch:
        return batch.to(device)

    def configure_optimizers(self) -> dict:
        """Weight decay on the matrices of blocks and head; none on embeddings, norms and the parameters of the scheme.

        What is frozen is left out.
        """
        matrices, rest = [], []
        for name, p in self.model.named_parameters():
            if not p.requires_grad:
                continue
            (matrices if name.startswith(("blocks", "head")) and p.dim() == 2 else rest).append(p)
        groups = [{"params": matrices, "weight_decay": self.optim.weight_decay}, {"params": rest, "weight_decay": 0.0}]
        adamw = torch.optim.AdamW(groups, lr=self.optim.lr, betas=(self.optim.beta1, self.optim.beta2), fused=True)
        schedule = torch.optim.lr_scheduler.LambdaLR(adamw, self.optim.factor)
        return {"optimizer": adamw, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}

"""The LightningModule: loss, optimiser, schedule; nothing else."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any, cast

import lightning as L
import torch
from torch import Tensor, nn

from extrap.model.gpt import GPT
from extrap.model.loss import mean_loss, scored
from extrap.model.scheme import Scheme
from extrap.runs.training.batch_shares import Counts, Share, counted
from extrap.runs.training.muon import Together, muon
from extrap.runs.training.optim import Optim

EARLY_WEIGHT = 0.5
"""Weight of the early loss in the loss of its part."""


class Lit(L.LightningModule):
    """Loss = sum over parts of weight x mean cross-entropy of the part's scored tokens, nats per
    token. One mean over all tokens would leave the few answers of retrieval untrained.

    The layers before the last also predict answers that a batch marks as early (echoes of the easy
    phase): deep supervision, arXiv 1409.5185. Shares of a batch: training/batch_shares.py.

    Args:
        compiled: torch.compile makes the forward of all layers, and its backward
        recomputed: the backward computes each layer again (arXiv 1604.06174)
        spread: the scheme of windows shorter than the training length; None: the model's own

    `measured` holds means over the part of the batch that this process has seen.
    """

    def __init__(
        self,
        model: GPT,
        optim: Optim,
        weights: dict[str, float],
        compiled: bool = False,
        recomputed: bool = False,
        spread: Scheme | None = None,
    ):
        super().__init__()
        self.model = model
        self.optim = optim
        self.weights = weights
        self.measured: dict[str, Tensor] = {}
        model.recomputed = recomputed
        self._schemes = model.scheme, spread  # no module of this one, whose weights it shares
        self._compiled = torch.compile(model.hidden) if compiled else None

    def training_step(self, batch: Share, step: int) -> Tensor:
        states: list[Tensor] = []
        forward = self._compiled or self.model.hidden
        with self._in_place(batch.tokens.shape[1]):
            hidden = forward(batch.tokens, states).flatten(0, 1)
        targets = batch.targets.flatten()
        head = self.model.logits, len(self.model.embedding.weight)
        total = hidden.new_zeros(())
        if batch.turn == 0:
            self.measured = {}
        for part, answers in batch.scored.items():
            n, echoes = len(answers), batch.echoes[part]
            places = torch.cat([answers, echoes])
            loss, losses, hits = scored(*head, hidden[places], targets[places])
            count = batch.counts.get(part, Counts())
            weight = self.weights[part] * batch.weights.get(part, 1.0)
            total = total + weight * counted(loss, count.every)
            if len(echoes) and len(states) > 1:
                before_last = self.model.norm(states[-2].flatten(0, 1)[echoes])
                early = mean_loss(*head, before_last, targets[echoes])
                total = total + EARLY_WEIGHT * weight * counted(early, count.echoes)
            means = {"nll": losses[:n].mean(), "accuracy": hits[:n].float().mean()}
            for name, mean in means.items():
                value = counted(mean, count.scored) / batch.turns
                self.measured[f"{part}/{name}"] = self.measured.get(f"{part}/{name}", 0) + value
        return total

    @contextmanager
    def _in_place(self, length: int) -> Iterator[None]:
        """Gives the model the scheme of windows of a length, within."""
        own, spread = self._schemes
        if spread is None or length == own.shape.length:
            yield
            return
        self.model.scheme = spread
        try:
            yield
        finally:
            self.model.scheme = own

    def configure_gradient_clipping(self, optimizer: Any, *given: Any, **more: Any) -> None:
        """Clips the norm of all gradients. Lightning's own clipping rejects fused AdamW in mixed
        precision, though in bfloat16 no gradient is scaled.
        """
        groups = [group["params"] for group in optimizer.param_groups]
        nn.utils.clip_grad_norm_([*chain.from_iterable(groups)], self.optim.clip)

    def configure_model(self) -> None:
        """Splits the parameters among the devices of a mesh, if Lightning hands over one."""
        if self.device_mesh is not None:
            from extrap.runs.training.shards import shard

            shard(self, self.model.blocks, self.device_mesh["data_parallel"])

    def transfer_batch_to_device(
        self, batch: Share | Exception, device: torch.device, dataloader_idx: int
    ) -> Share:
        """Raises the error of a batch that could not be drawn."""
        if isinstance(batch, Exception):
            raise batch
        return cast(Share, batch.to(device))

    def configure_optimizers(self) -> dict:
        """Decays the matrices of blocks and head; neither embeddings, norms nor the parameters of
        the scheme. Frozen parameters are left out. Muon steps the matrices of the blocks alone.
        """
        optim = self.optim
        inside: set[nn.Parameter] = set()
        for name, module in self.model.matrices().items():
            if name != "embedding":
                inside |= {*module.parameters()}
        inside -= {self.model.embedding.weight}
        tuned = [p for p in self.model.parameters() if p.requires_grad]
        decayed = [p for p in tuned if p in inside and p.dim() == 2]
        others = {"params": [p for p in tuned if p not in {*decayed}], "weight_decay": 0.0}
        by_muon: list[nn.Parameter] = []
        if optim.optimizer == "muon":
            in_blocks = {*self.model.blocks.parameters()}
            by_muon = [p for p in decayed if p in in_blocks]
            decayed = [p for p in decayed if p not in in_blocks]
        groups = [{"params": decayed, "weight_decay": optim.weight_decay}, others]
        optimizer: torch.optim.Optimizer = torch.optim.AdamW(
            groups, lr=optim.lr, betas=(optim.beta1, optim.beta2), fused=True
        )
        if by_muon:
            optimizer = Together(muon(by_muon, optim), optimizer)
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, optim.factor)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}

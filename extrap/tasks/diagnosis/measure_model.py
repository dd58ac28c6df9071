"""A model looked into: attention and gradients on the same inputs, as rows (the metrics of
extrap.tasks.diagnostics).
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from extrap.data.keyvalue import most
from extrap.data.trials.base import Trials
from extrap.tasks.base import Inside, batches
from extrap.tasks.diagnosis import attention_stats as measures
from extrap.tasks.diagnosis.inputs import Inputs, gathered, records, slots, with_dummy
from extrap.tasks.scoring.recorder import Recorder

KEYS = 16
SHARES = (0.5, 0.9, 0.99)


@dataclass(frozen=True)
class ModelMeasures:
    """The measurements of one model: attention and gradients on the same inputs.

    Args:
        places, probes, batch_tokens: options of extrap.tasks.diagnostics
    """

    places: int
    probes: int
    batch_tokens: int

    def attention(self, recorder: Recorder, model: Inside, inputs: Inputs) -> None:
        n = inputs.tokens.shape[1]
        seen = measures.doublings(n)
        keys = min(KEYS, n)

        def measure(tokens: Tensor) -> list[Tensor]:
            a = model.attention(tokens).double()
            mass = measures.mass(a)
            of_sink = mass[..., 0]
            of_keys = mass[..., :keys].mean(2)
            entropy = measures.relative_entropy(a, seen.to(a.device))
            of_layers = [of_sink, of_keys, entropy.mean(2)]
            by_input = [each.transpose(0, 1) for each in of_layers]
            return [*by_input, measures.rollout(a)]

        sink, mass, entropy, rollout = gathered(measure, self.batch_tokens, inputs.tokens)
        held = sink.mean(0)
        is_sink = (held > measures.SINK).double()
        rate = is_sink.where(held.isfinite(), torch.nan).mean()
        recorder.value("sink_rate", rate.item())
        for layer, head in np.ndindex(sink.shape[1:]):
            of_head = sink[:, layer, head]
            recorder.mean("sink", of_head, layer=layer, head=head)
        layers = mass.shape[1]
        for layer in range(layers):
            of_layer = recorder.at(layer=layer)
            of_layer.along("mass", mass[:, layer], "key", range(keys))
            of_layer.along("entropy", entropy[:, layer], "keys", seen.tolist())
        uniform = measures.uniform(n)[:keys]
        for key, share in enumerate(uniform.tolist()):
            recorder.value("mass_uniform", share, axis="key", at=float(key))
        self._profile(recorder, "rollout", rollout)

    def clusters(self, recorder: Recorder, model: Inside, inputs: Inputs) -> None:
        parts: dict[int, list[Tensor]] = {}
        n, length = inputs.tokens.shape
        for here in batches(n, length, self.batch_tokens):
            cosines = model.clusters(inputs.tokens[here])
            for layer, cosine in cosines.items():
                over_heads = cosine.mean(1).cpu()
                parts.setdefault(layer, []).append(over_heads)
        for layer, found in parts.items():
            recorder.mean("cosine", torch.cat(found), layer=layer)

    def gradients(self, recorder: Recorder, model: Inside, inputs: Inputs) -> None:
        self.influence(recorder, model, inputs)

        def gradient(tokens: Tensor, targets: Tensor) -> list[Tensor]:
            return [model.gradient(tokens, targets)]

        (norms,) = gathered(gradient, self.batch_tokens, *inputs)
        n = norms.shape[1]
        doublings = measures.doublings(n)[:-1].tolist()
        distances = sorted({0, 1, *doublings, n - 1})
        within = measures.cumulated(norms)[:, distances]
        recorder.along("gradient", within, "distance", distances)
        for share in SHARES:
            reach = measures.reach(norms, share)
            recorder.mean("reach", reach, axis="share", at=share)

    def influence(self, recorder: Recorder, model: Inside, inputs: Inputs) -> None:
        probes = measures.probes(self.probes, model.width)

        def jacobian(tokens: Tensor) -> list[Tensor]:
            return [model.jacobian(tokens, probes)]

        (norms,) = gathered(jacobian, self.batch_tokens, inputs.tokens)
        self._profile(recorder, "influence", measures.share(norms))

    def _profile(self, recorder: Recorder, metric: str, profile: Tensor) -> None:
        """Records a profile (N, n) over positions, at some of them, and how its ends stand out."""
        n = profile.shape[1]
        at = measures.record_places(n, self.places)
        recorder.along(metric, profile[:, at], "position", at.tolist())
        ends = measures.ends(profile)
        for end, values in ends.items():
            if values.isfinite().all():  # a window leaves the middle without any share
                recorder.mean(f"{metric}_{end}", values)

    def slots(self, recorder: Recorder, model: Inside, trials: Trials, depths: np.ndarray) -> None:
        """Three readings of each gold slot share their contents: of all slots, of the record asked
        for, of a dummy in its place.
        """
        last = most(trials.length) - 1
        depth_of = {round(depth * last): depth for depth in depths.tolist()}

        def attended(tokens: Tensor) -> list[Tensor]:
            """Returns the attention of the query to every record, (N, layers, records)."""
            row = model.attention(tokens)[..., -1, :].double()
            over_heads = slots(row).mean(2)
            return [over_heads.transpose(0, 1)]

        golds = [*depth_of]
        every = []
        for at, depth in depth_of.items():
            inputs = records(trials, depth)
            dummies = with_dummy(inputs, at, trials.vocabulary)
            (gold,) = gathered(attended, self.batch_tokens, inputs.tokens)
            (dummy,) = gathered(attended, self.batch_tokens, dummies)
            of_gold = gold.mean(1)[:, at]
            of_dummy = dummy.mean(1)[:, at]
            every.append(gold[..., golds])
            slot = recorder.at(axis="slot", at=float(at))
            slot.mean("gold_mass", of_gold)
            slot.mean("dummy_mass", of_dummy)
            slot.mean("calibrated", of_gold - of_dummy)
        each = torch.stack(every).mean(0)
        layers = each.shape[1]
        recorder.along("slot_mass", each.mean(1), "slot", golds)
        for layer in range(layers):
            recorder.along("slot_mass", each[:, layer], "slot", golds, layer=layer)
        uniform = 2 / trials.length
        recorder.value("slot_mass_uniform", uniform)

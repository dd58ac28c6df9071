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
            entropy = measures.relative_entropy(a, seen.to(a.device)).mean(2)
            of_layers = mass[..., 0], mass[..., :keys].mean(2), entropy
            by_input = [each.transpose(0, 1) for each in of_layers]
            return [*by_input, measures.rollout(a)]

        sink, mass, entropy, rollout = gathered(measure, self.batch_tokens, inputs.tokens)
        held = sink.mean(0)
        sinks = (held > measures.SINK).double().where(held.isfinite(), torch.nan)
        recorder.value("sink_rate", sinks.mean().item())
        for layer, head in np.ndindex(sink.shape[1:]):
            recorder.mean("sink", sink[:, layer, head], layer=layer, head=head)
        for layer in range(mass.shape[1]):
            recorder.along("mass", mass[:, layer], "key", range(keys), layer=layer)
            recorder.along("entropy", entropy[:, layer], "keys", seen.tolist(), layer=layer)
        for key, share in enumerate(measures.uniform(n)[:keys].tolist()):
            recorder.value("mass_uniform", share, axis="key", at=float(key))
        self._profile(recorder, "rollout", rollout)

    def clusters(self, recorder: Recorder, model: Inside, inputs: Inputs) -> None:
        parts: dict[int, list[Tensor]] = {}
        n, length = inputs.tokens.shape
        for here in batches(n, length, self.batch_tokens):
            for layer, cosine in model.clusters(inputs.tokens[here]).items():
                parts.setdefault(layer, []).append(cosine.mean(1).cpu())
        for layer, found in parts.items():
            recorder.mean("cosine", torch.cat(found), layer=layer)

    def gradients(self, recorder: Recorder, model: Inside, inputs: Inputs) -> None:
        self.influence(recorder, model, inputs)
        (norms,) = gathered(lambda *both: [model.gradient(*both)], self.batch_tokens, *inputs)
        n = norms.shape[1]
        doublings = measures.doublings(n)[:-1].tolist()
        distances = sorted({0, 1, *doublings, n - 1})
        within = measures.cumulated(norms)[:, distances]
        recorder.along("gradient", within, "distance", distances)
        for share in SHARES:
            recorder.mean("reach", measures.reach(norms, share), axis="share", at=share)

    def influence(self, recorder: Recorder, model: Inside, inputs: Inputs) -> None:
        probes = measures.probes(self.probes, model.width)
        (norms,) = gathered(
            lambda tokens: [model.jacobian(tokens, probes)], self.batch_tokens, inputs.tokens
        )
        self._profile(recorder, "influence", measures.share(norms))

    def _profile(self, recorder: Recorder, metric: str, profile: Tensor) -> None:
        """Records a profile (N, n) over positions, at some of them, and how its ends stand out."""
        at = measures.record_places(profile.shape[1], self.places)
        recorder.along(metric, profile[:, at], "position", at.tolist())
        for end, values in measures.ends(profile).items():
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
            return [slots(row).mean(2).transpose(0, 1)]

        every = []
        for at, depth in depth_of.items():
            inputs = records(trials, depth)
            dummies = with_dummy(inputs, at, trials.vocabulary)
            (gold,) = gathered(attended, self.batch_tokens, inputs.tokens)
            (dummy,) = gathered(attended, self.batch_tokens, dummies)
            found, other = gold.mean(1)[:, at], dummy.mean(1)[:, at]
            every.append(gold[..., [*depth_of]])
            masses = {"gold_mass": found, "dummy_mass": other, "calibrated": found - other}
            for metric, values in masses.items():
                recorder.mean(metric, values, axis="slot", at=float(at))
        each = torch.stack(every).mean(0)
        recorder.along("slot_mass", each.mean(1), "slot", depth_of)
        for layer in range(each.shape[1]):
            recorder.along("slot_mass", each[:, layer], "slot", depth_of, layer=layer)
        recorder.value("slot_mass_uniform", 2 / trials.length)

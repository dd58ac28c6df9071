"""Answers of one token: what a model says at the end of a context, scored three ways, with rows and items for each cell of a grid."""

from collections.abc import Sequence

import numpy as np
import torch

from extrap.data.trials.keyvalue import Trials
from extrap.data.vocabulary import Vocabulary
from extrap.utils.errors import UserError
from extrap.results.stats.intervals import bootstrap_share, depth_contrasts, depth_summaries, wilson
from extrap.tasks.base import Model, Result, batches

TRAINED = 0.9  # accuracy within the training length from which a run counts as having learned a task
SEED = 0  # of the trials: the same for every run, so that runs can be compared trial by trial


def check_depths(option: str, depths: Sequence[float], what: str) -> None:
    """Raises UserError unless these are different numbers in [0, 1] that `stats.depth_contrasts` can compare."""
    option = f"{option}={list(depths)}"
    if not all(0 <= d <= 1 for d in depths) or len(set(depths)) < len(depths):
        raise UserError(f"{option}: must be different numbers from 0 (first {what}) to 1 (last {what})")
    try:
        depth_contrasts(depths)
    except ValueError:
        raise UserError(f"{option}: must hold 0, 1 and one in between from 0.25 to 0.75, which the summaries compare") from None


@torch.no_grad()
def score(model: Model, trials: Trials, vocabulary: Vocabulary, batch_tokens: int) -> dict[str, np.ndarray]:
    """{metric: (n,) bool}. accuracy: the most likely token is the answer; restricted: it is, among value ids alone; format: it is any
    value of the context."""
    values, said = vocabulary.value_ids, []
    for rows in batches(len(trials.tokens), trials.tokens.shape[1], batch_tokens):
        logits = model(torch.from_numpy(trials.tokens[rows]), last=1)[:, -1]
        of_values = logits[:, values.start : values.stop].argmax(-1) + values.start
        said.append(torch.stack([logits.argmax(-1), of_values]).cpu().numpy())
    full, restricted = np.concatenate(said, 1)
    return {
        "accuracy": full == trials.answers,
        "restricted": restricted == trials.answers,
        "format": (full[:, None] == trials.values).any(1),
    }


def report(result: Result, where: dict, scores: dict[str, np.ndarray], places: dict[str, int], tokens: int | None = None) -> None:
    """A row with a Wilson interval for every metric, an item for the first metric of every trial and for each of the `places`.

    tokens: scored in all, one of each trial where left out.
    """
    for metric, hits in scores.items():
        low, high = wilson(hits.sum(), len(hits))
        row = {"metric": metric, "value": float(hits.mean()), "low": low, "high": high, "n": len(hits), "tokens": tokens or len(hits)}
        result.rows.append(where | row)
    cell = {name: where[name] for name in ("protocol", "length", "depth") if name in where}
    first, hits = next(iter(scores.items()))
    result.items.extend(cell | {"metric": first, "item": i, "value": float(hit)} for i, hit in enumerate(hits))
    result.items.extend(cell | {"metric": name, "item": "all", "value": float(value)} for name, value in places.items())


def report_curve(result: Result, where: dict, correct: np.ndarray, depths: Sequence[float]) -> None:
    """The summaries of a curve over depth (stats.depth_contrasts), bootstrapped over trials. correct: (trials, depths)."""
    counts = {"n": len(correct), "tokens": correct.size}
    for metric, (value, low, high) in depth_summaries(correct, depths).items():
        result.rows.append(where | {"metric": metric, "value": value, "low": low, "high": high} | counts)


def report_gate(result: Result, where: dict, correct: np.ndarray) -> None:
    """The mean accuracy over depths that tells whether the run learned the task. correct: (trials, depths)."""
    value, low, high = bootstrap_share(correct)
    row = {"metric": "gate", "value": value, "low": low, "high": high, "n": len(correct), "tokens": correct.size}
    result.rows.append(where | row)


def guess(records: int, values: int) -> float:
    """Expected accuracy of naming the value of a record at random: 1/k + (1 - 1/k)/values with k records."""
    return 1 / records + (1 - 1 / records) / values


def mark(result: Result) -> Result:
    """Every row with the status `ok`, or `not trained` where no gate reaches 0.9."""
    trained = any(row["metric"] == "gate" and row["value"] >= TRAINED for row in result.rows)
    result.rows = [row | {"status": "ok" if trained else "not trained"} for row in result.rows]
    return result


def mark_each(result: Result) -> Result:
    """The same protocol by protocol, each with a gate of its own; rows of no protocol are `ok`."""
    trained = {row["protocol"] for row in result.rows if row["metric"] == "gate" and row["value"] >= TRAINED}
    result.rows = [row | {"status": "ok" if row.get("protocol") in {None, *trained} else "not trained"} for row in result.rows]
    return result

"""Trials of retrieval tasks as files for other harnesses.

    trials/CELL.jsonl    a trial a line: prompt, answer, length, depth, seed, ...
    CELL.yaml            an lm-eval task; its `acc` is our `accuracy`: every token of the answer is
                         the most likely one
    extrap.yaml          the lm-eval group of all of them

A cell is a task, a protocol, a length in tokens and a depth in percent: kv-records-1024-d50.
extrap evaluates a checkpoint with this tokenizer on the same prompts. A prompt lacks the token that
begins a text: its length counts this token, and the harness adds it.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from extrap.data.trials.base import SEED, Trials
from extrap.tasks.scoring.retrieval import Grid

NEEDLE, PASSAGE = "values are words, not numbers of 7 digits", "one word, not a passage of a chat"
ALIASES = {
    "nth": ("nth", {"count": ["start"]}, "", ""),
    "niah_single_2": ("kv", {"pairs": 1}, "padded", NEEDLE),
    "niah_multikey_1": ("kv", {"pairs": 4}, "padded", NEEDLE),
    "niah_multikey_2": ("kv", {}, "records", NEEDLE),
    "vt": ("trace", {"hops": [4]}, "", "the answer is the value, not the list of variables"),
    "mrcr_4needle": (
        "nth",
        {"count": ["start"], "copies": 4, "depths": [0, 0.33, 0.67, 1]},
        "",
        PASSAGE,
    ),
    "mrcr_8needle": ("nth", {"count": ["start"], "copies": 8}, "", PASSAGE),
}
"""Names of RULER (arXiv 2404.06654) and MRCR (arXiv 2409.12640): the task that is nearest, its
options, its protocol ("" for each), and what differs; and the options of `nth` in words.
"""

LM_EVAL = """\
# {why}
task: extrap_{name}
dataset_path: json
dataset_kwargs: {{data_files: {{test: trials/{cell}.jsonl}}}}
test_split: test
output_type: loglikelihood
doc_to_text: prompt
doc_to_target: answer
target_delimiter: ""
metric_list:
  - {{metric: acc, aggregation: mean, higher_is_better: true}}
metadata: {{version: 1, protocol: {protocol}, length: {length}, depth: {depth}}}
"""


class TrialFile(NamedTuple):
    """A file of trials for another harness.

    Args:
        name: of its files
        why: what differs from the benchmark of that name
        trials: the lines
    """

    name: str
    protocol: str
    length: int
    depth: float
    why: str
    trials: list[dict[str, Any]]


def cells(
    name: str, task: Grid, words: Any, tokens: Any, stream: Any, lengths: Sequence[int], trials: int
) -> Iterator[TrialFile]:
    """Draws every cell of a task.

    Args:
        name: of the task, or an alias
        words, tokens: a vocabulary, and the tokenizer that writes it
        stream: the tokens of the filler
    """
    plain = (name, {}, "", "")
    _, _, only, why = ALIASES.get(name, plain)
    why = why and f"{name}: {why}"
    forms = task.forms(words)
    if only:
        forms = {only: forms[only]}
    for (protocol, form), length, depth in product(forms.items(), lengths, task.depths):
        drawn = Trials(words, stream, length, range(trials))
        questions = form.questions(drawn, depth)
        cell = f"{name}-{protocol}-{length}-d{round(100 * depth)}"
        where = {"task": name, "protocol": protocol, "length": length, "depth": depth, "seed": SEED}
        pairs = zip(questions.tokens, questions.answers, strict=True)
        found = []
        for i, (ids, answer) in enumerate(pairs):
            prompt = tokens.decode(ids[1:].tolist())
            prompt_ids, _ = tokens(prompt.encode())
            read = {"tokens": 1 + len(prompt_ids), "prompt": prompt}
            whole = tokens.decode([*ids[1:].tolist(), *answer.tolist()])
            said = {"answer": whole[len(prompt) :]}  # an answer alone may lose its space
            found.append({"id": f"{cell}-{i}"} | where | {"trial": i} | read | said)
        yield TrialFile(cell, protocol, length, depth, why, found)


def write(found: list[TrialFile], folder: Path) -> None:
    """Writes the files of these cells into a new folder."""
    (folder / "trials").mkdir(parents=True)
    names = []
    for cell, protocol, length, depth, why, trials in found:
        lines = [json.dumps(trial, ensure_ascii=False) + "\n" for trial in trials]
        _text(folder / "trials" / f"{cell}.jsonl", "".join(lines))
        name = cell.replace("-", "_")
        names.append(f"extrap_{name}")
        where = {"protocol": protocol, "length": length, "depth": depth}
        comment = why or "extrap, a cell"
        own = LM_EVAL.format(name=name, cell=cell, why=comment, **where)
        _text(folder / f"{cell}.yaml", own)
    listed = "".join(f"  - {name}\n" for name in names)
    _text(folder / "extrap.yaml", f"group: extrap\ntask:\n{listed}metadata: {{version: 1}}\n")


def _text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")

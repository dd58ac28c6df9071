"""Jobs on tiny checkpoints, as the command line composes them: text beside a GGUF of a Llama."""

from pathlib import Path

import numpy as np

from extrap.runs import validate
from extrap.runs.evaluate import evaluate
from tests.support import tiny_checkpoints as tiny
from tests.support import tiny_gguf
from tests.support.jobs import job

L = 32
TINY = [
    "logger=none",
    "stage=evaluate",
    "model=checkpoint",
    "data/corpus=files",
    "data.corpus.path=text",
    "data.corpus.document_tokens=300",
]
NLL = ["task=[nll]", "task.nll.multiples=[0.5,1,2]", "task.nll.documents=4"]


def placed(folder: Path):
    """A GGUF file of a tiny Llama, which is returned, and text beside it."""
    model = tiny.made("llama", vocab_size=len(tiny_gguf.words()), **tiny.rope("default"))
    (folder / "text").mkdir()
    words = np.array(["the", "an", "12", "123", "then", "that", "other", "7", "of"])
    for n in range(12):
        drawn = np.random.default_rng(n).choice(words, 2000)
        (folder / "text" / f"{n}.txt").write_text(" ".join(drawn))
    tiny_gguf.written(folder / "model.gguf", model)
    return model


def asked(*words: str):
    tasks = [] if any(word.startswith("task=") for word in words) else NLL
    return job("model.checkpoint=model.gguf", *tasks, *words, tiny=TINY)


def measured(*words: str):
    this = asked(*words)
    validate.check(this)
    evaluate(this)
    this.dashboard.finish()
    return this


def saved(folder: Path, kind: str, **options):
    """A model of transformers in a folder, with the tokenizer of the GGUF file."""
    model = tiny.made(kind, vocab_size=len(tiny_gguf.words()), **options)
    model.save_pretrained(folder)
    unpacked = asked().source.checkpoint.folder / "tokenizer.json"
    (folder / "tokenizer.json").write_text(unpacked.read_text())
    return model

"""What tests of `import extrap` share: words of small runs, and a model in a variable."""

import pandas as pd

from extrap.results import rows as results_rows
from tests.support import tiny_checkpoints as tiny
from tests.support.jobs import TINY

ROPE = (*TINY, "scheme=rope")
FEW = ("task.nll.documents=4", "task.kv.trials=4", "task.kv.pairs=4")
BOTH = ("task.nll.documents=4", "task.kv.trials=10")
TEXT = ("data/corpus=files", "data.corpus.path=text", "data.corpus.document_tokens=1000")
L = 64


def in_order(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.sort_values([*results_rows.KEY], ignore_index=True)


def llama(tokenizer, kind: str = "olmo2", **options):
    sizes = {"vocab_size": len(tokenizer), "max_position_embeddings": L}
    return tiny.made(kind, **sizes | options)

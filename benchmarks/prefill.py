"""Peak memory of reading a long text, by its length:

    python -m benchmarks.prefill [layers] [read ...]

SmolLM2-135M's shape (576 wide, 9 heads, 3 of keys, 49152 ids) with weights as drawn, float32, two
threads; 2 of its 30 layers unless you say more. Every number is of a process of its own: the
greatest resident size minus that before the forward. A layer's activations are free before the next
layer begins, so the number of layers changes the weights alone.

    answer          extrap, the logits behind the text (retrieval)
    losses          extrap, the loss of every token
    transformers    its own forward, the logits behind the text
    seven-depths    extrap, the logits behind seven texts that begin alike; only if you name it

The last line of a read fits a line through the lengths, and says what it gives for 131072 tokens.
"""

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.measure import processor

LENGTHS, LONG = (8192, 16384, 32768), 131072
READS = ("answer", "losses", "transformers")


def read(which: str, tokens: int, layers: int) -> tuple[float, float]:
    """Returns MB and processor seconds, in this process."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    from benchmarks.past import SHAPE
    from extrap.pretrained.adapter import adapt

    torch.set_num_threads(2)
    torch.manual_seed(0)
    shape = SHAPE | {"num_hidden_layers": layers, "max_position_embeddings": LONG}
    net = LlamaForCausalLM(LlamaConfig(**shape)).eval()
    model, x = adapt(net, 8192), torch.randint(9000, (1, tokens))
    alike = x.repeat(7, 1, 1)
    for n in range(6):
        alike[n, :, (n + 1) * tokens // 8 :] += 1
    reads = {
        "answer": lambda: model(x, last=1),
        "losses": lambda: model.losses(x, x),
        "seven-depths": lambda: model.endings(alike, 1),
        "transformers": lambda: net(x, logits_to_keep=1, use_cache=False),
    }
    with torch.inference_mode():
        model(x[:, :64], last=1)
        before = peak(reset=True)
        start = time.process_time()
        reads[which]()
        took = time.process_time() - start
    return peak() - before, took


def peak(reset: bool = False) -> float:
    """Returns the greatest resident size in MB since the last reset."""
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def main(layers: int, reads: Sequence[str]) -> None:
    print(processor())
    for which in reads:
        found = []
        for tokens in LENGTHS:
            command = [sys.executable, "-m", "benchmarks.prefill", which, str(tokens), str(layers)]
            done = subprocess.run(
                command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[1]
            )
            mb, seconds = map(float, done.stdout.split()[-2:])
            found.append(mb)
            print(f"{which:12s} {tokens:7d} tokens {mb:7.0f} MB {seconds:7.0f} s", flush=True)
        slope, first = np.polyfit(LENGTHS, found, 1)
        off = max(abs(np.polyval((slope, first), LENGTHS) - found))
        about = f"{1024 * slope:.1f} kB a token, {off:.0f} MB off the line at most"
        print(f"{which:12s} {about}; {LONG} tokens: {first + slope * LONG:.0f} MB", flush=True)


if __name__ == "__main__":
    if sys.argv[2:3] and sys.argv[2].isdecimal():
        print(*read(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
    else:
        main(int((sys.argv[1:] or ["2"])[0]), sys.argv[2:] or READS)

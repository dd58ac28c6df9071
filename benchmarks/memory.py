"""Peak memory of reading a long text under each scheme, in MB: python benchmarks/memory.py [scheme
...]

16384 tokens, width 64, 4 heads, 2 layers, batch 1, without gradients; each in a process of its own:
the greatest resident size minus that before the forward. Schemes that end before are absent.
"""

import os
import resource
import subprocess
import sys
from pathlib import Path

TOKENS = 16384


def read(scheme: str) -> float:
    """MB, in this process."""
    import torch

    from benchmarks.measure import job

    torch.set_num_threads(1)
    model = job([f"scheme={scheme}"]).source.model().eval()
    x = torch.randint(256, (1, TOKENS))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with torch.inference_mode():
        model(x, last=1)
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def main() -> None:
    from benchmarks.measure import write
    from extrap.utils.paths import conf_dir

    every = sorted(path.stem for path in (Path(conf_dir()) / "scheme").glob("*.yaml"))
    rows = []
    for scheme in sys.argv[1:] or every:
        found = subprocess.run(
            [sys.executable, "-m", "benchmarks.memory", "--of", scheme],
            capture_output=True, text=True, check=False, cwd=Path(__file__).parents[1],
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        if found.returncode == 0:
            mb = float(found.stdout.split()[-1])
            rows.append({"scheme": scheme, "tokens": TOKENS, "MB": f"{mb:.0f}"})
            print(f"{scheme:24s} {mb:7.0f} MB", flush=True)
        else:
            print(f"{scheme:24s} {(found.stderr.strip().splitlines() or ['failed'])[-1]}")
    write("memory", rows)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--of"]:
        print(read(sys.argv[2]))
    else:
        main()

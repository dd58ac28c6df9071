"""The rate of retrieval beside lm-eval, on the same trials of one checkpoint, at 1 depth and at 7.

    python -m venv lm && lm/bin/pip install lm-eval
    python -m benchmarks.harness FOLDER lm/bin/python [tokens] [trials] [pairs]

FOLDER holds a checkpoint with tokenizer.json and tokenizer_config.json, such as SmolLM2-135M. Both
sides read it in float32 on one thread, 16 texts at once, and keep their model loaded; the parent
asks them in turn. The rate is tokens of all prompts over processor seconds of the process.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

TEXTS = 16
MIDDLE = 0.5


def ours(folder: str, tokens: int, trials: int) -> Any:
    """Returns a function from a number of depths to {depth: accuracy}."""
    import torch

    from benchmarks.measure import job
    from extrap.data.trials.base import DEPTHS
    from extrap.runs.on_device import OnDevice
    from extrap.tasks.base import Counter
    from extrap.tasks.scoring.retrieval import Exam

    torch.set_num_threads(1)
    share = f"task.kv.multiples=[{tokens / 8192}]"
    made = job(["model=checkpoint", f"model.checkpoint={folder}", "task=[kv]", share])
    task, source = made.tasks["kv"], made.source
    setting = made.setting_of(task)
    words, stream = setting.vocabulary, setting.stream
    model = OnDevice(source.loaded, source.device)
    form = task.forms(words)["records"]

    def read(depths: int) -> dict[float, float]:
        at = DEPTHS if depths == len(DEPTHS) else [MIDDLE]
        given = words, stream, tokens, range(trials), model, TEXTS * tokens
        exam = Exam(*given, Counter(lambda *_: None, 1))
        with torch.inference_mode():
            found = exam.scores([form.questions(exam, depth) for depth in at])
        return {d: float(hits["accuracy"].mean()) for d, hits in zip(at, found, strict=True)}

    return read


def theirs(folder: str, tokens: int, trials: Path) -> Any:
    """As ours, by lm-eval on the exported trials."""
    import torch
    from lm_eval import simple_evaluate
    from lm_eval.models.huggingface import HFLM
    from lm_eval.tasks import TaskManager

    torch.set_num_threads(1)
    one = {"add_bos_token": True, "max_length": tokens + 1, "batch_size": TEXTS}
    model = HFLM(pretrained=folder, device="cpu", dtype="float32", **one)
    every = TaskManager(include_path=str(trials), include_defaults=False)
    names = sorted(path.stem for path in trials.glob("kv-records-*-d*.yaml"))
    os.chdir(trials)

    def read(depths: int) -> dict[float, float]:
        wanted = [n for n in names if depths > 1 or n.endswith(f"-d{round(100 * MIDDLE)}")]
        tasks = [f"extrap_{name.replace('-', '_')}" for name in wanted]
        found = simple_evaluate(model, tasks=tasks, task_manager=every, bootstrap_iters=0)
        accs = {t: found["results"][t]["acc,none"] for t in tasks}
        return {int(t.rpartition("d")[2]) / 100: float(acc) for t, acc in accs.items()}

    return read


def child(side: str, folder: str, tokens: int, trials: str) -> None:
    """Answers each number of depths on its input with accuracies and processor seconds."""
    made = ours(folder, tokens, int(trials)) if side == "ours" else None
    read = made or theirs(folder, tokens, Path(trials))
    print("ready", flush=True)
    for line in sys.stdin:
        start = time.process_time()
        found = read(int(line))
        said = {"seconds": time.process_time() - start, "accuracy": found}
        print("\n" + json.dumps(said), flush=True)


def answered(process: subprocess.Popen[str], first: str) -> str:
    """Returns the next line of a child that begins so; harnesses print other lines, too."""
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith(first):
            return line
    raise SystemExit(f"a side of the comparison ended: {process.args}")


def main(folder: str, python: str, tokens: int = 256, trials: int = 4, pairs: int = 3) -> None:
    from benchmarks.measure import write

    root, rows = Path(__file__).parents[1], list[dict[str, object]]()
    with tempfile.TemporaryDirectory() as place:
        out = str(Path(place, "trials"))
        words = ["export-trials", "kv", "--tokenizer", folder, "--lengths", str(tokens)]
        words += ["--trials", str(trials), "--out", out]
        subprocess.run([sys.executable, "-m", "extrap", *words], check=True, cwd=root)
        env = os.environ | {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "PYTHONPATH": str(root)}
        sides = {"ours": (sys.executable, str(trials)), "theirs": (python, out)}
        both = {
            side: subprocess.Popen(
                [program, "-m", "benchmarks.harness", side, folder, str(tokens), given],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=root, env=env,
            )
            for side, (program, given) in sides.items()
        }  # fmt: skip
        for process in both.values():
            answered(process, "ready")
        for depths in (1, 7):
            seconds = {side: list[float]() for side in both}
            accuracy = {}
            for _ in range(pairs + 1):  # the first warms up
                for side, process in both.items():
                    assert process.stdin is not None
                    print(depths, file=process.stdin, flush=True)
                    said = json.loads(answered(process, '{"seconds"'))
                    seconds[side].append(said["seconds"])
                    by_depth = sorted(said["accuracy"].items(), key=lambda pair: float(pair[0]))
                    accuracy[side] = [value for _, value in by_depth]
            if accuracy["ours"] != accuracy["theirs"]:
                raise SystemExit(f"other accuracies at {depths} depths: {accuracy}")
            own, other = (np.array(seconds[side][1:]) for side in sides)
            read = tokens * trials * depths
            ratio = f"{np.median(other / own):.2f}"
            spread = f"{min(other / own):.2f} to {max(other / own):.2f}"
            rows.append({"depths": depths, "tokens": read, "extrap": f"{read / np.median(own):.0f}",
                         "lm-eval": f"{read / np.median(other):.0f}", "times": ratio,
                         "of pairs": spread})  # fmt: skip
            write("harness", rows)
        for process in both.values():
            process.kill()


if __name__ == "__main__":
    if sys.argv[1] in ("ours", "theirs"):
        child(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4])
    else:
        main(*sys.argv[1:3], *map(int, sys.argv[3:]))

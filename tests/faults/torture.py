"""`make torture`: a tiny study is killed (SIGKILL) at random moments and started again until it is
done, over and over.

A kill comes after a random time, or at a random one of the study's own writes: half-way through a
file, before and after it is synced, renamed, named on the disk. After each kill every file of rows
and every figure that is there is one of an undisturbed run, byte for byte; in the end all of them
are there. A sweep that is killed: tests/cli/test_sweep.py.
"""

import argparse
import io
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from extrap import figures
from extrap.cli import plot, program
from extrap.runs import evaluate, train
from extrap.utils import atomic
from tests.support.jobs import TINY

OPTIONS = [*TINY, "study=torture", "data/corpus=files", "data.corpus.path=text.txt"]
KEPT = ("results/*/rows/*.csv", "results/*/figures/*")


def attempt(folder: Path, at: float | None) -> tuple[int, int]:
    """Runs the study in a copy of this process, which has imported everything: a start costs
    nothing. at: when it is killed, the number of a write (int) or seconds (float). Returns its exit
    code and its writes, 0 if it was killed.
    """
    near, far = os.pipe()
    if (pid := os.fork()) == 0:
        _child(folder, at, far)
    os.close(far)
    seconds = at if isinstance(at, float) else threading.TIMEOUT_MAX
    clock = threading.Timer(seconds, os.kill, (pid, signal.SIGKILL))
    clock.start()
    with open(near, "rb") as pipe:
        written = pipe.read()
    clock.cancel()
    clock.join()
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), int(written or 0)


def _child(folder: Path, at: float | None, pipe: int) -> None:
    code = 1
    try:
        os.chdir(folder)
        log = os.open("log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(log, 1)
        os.dup2(log, 2)
        count = _arm(at)
        for scheme in ("rope", "t5"):
            program.main([f"scheme={scheme}", *OPTIONS])
        plot.main(["torture", "loss_length", "training_curves"])
        os.write(pipe, str(len(count)).encode())
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _arm(at: float | None) -> list[None]:
    """Counts the moments of writing in a list; at number `at` this process is killed."""
    passed: list[None] = []
    fsync, replace = os.fsync, os.replace

    def moment() -> None:
        if len(passed) == at:
            os.kill(os.getpid(), signal.SIGKILL)
        passed.append(None)

    class Halting(io.BufferedWriter):
        def write(self, content: Any) -> int:
            half = len(content) // 2
            super().write(content[:half])
            self.flush()
            moment()
            return half + super().write(content[half:])

    def around(call: Callable[..., None]) -> Callable[..., None]:
        def called(*args: Any) -> None:
            moment()
            call(*args)
            moment()

        return called

    os.fsync, os.replace = around(fsync), around(replace)
    atomic.open = lambda path, mode: Halting(io.FileIO(path, mode))  # type: ignore[attr-defined]
    return passed


def life(folder: Path, whole: dict[str, bytes], moments: Sequence[float]) -> int:
    """Takes one study from nothing to its end, with a kill at each of these moments on the way;
    returns how many came before its end. whole: the files of an undisturbed run. Raises
    AssertionError.
    """
    prepare(folder)
    for killed, at in enumerate([*moments, None]):
        code, _ = attempt(folder, at)
        found = files(folder)
        wrong = sorted(name for name, content in found.items() if whole.get(name) != content)
        assert code in (0, -signal.SIGKILL), f"exit code {code}: {logged(folder)}"
        assert not wrong, f"not those of an undisturbed run: {wrong}"
        if code == 0:
            assert found.keys() == whole.keys(), f"missing: {whole.keys() - found.keys()}"
            return killed
    raise AssertionError("killed without a kill")


def prepare(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    rng = random.Random(0)
    words = ["".join(rng.choices("abcdefghijklmnop", k=rng.randint(2, 7))) for _ in range(200)]
    (folder / "text.txt").write_text(" ".join(rng.choices(words, k=60000)))


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for pattern in KEPT
        for path in folder.glob(pattern)
        if path.name[0] != "."
    }


def logged(folder: Path) -> str:
    return (folder / "log").read_text()[-2000:]


def torture(kills: int, seed: int, folder: Path) -> None:
    """Kills `kills` times and prints how many were survived."""
    assert train and figures.available()  # imported here, once
    said = evaluate.commit()
    evaluate.commit = lambda: said  # a commit made meanwhile is no fault of what is tested
    prepare(folder)
    began = time.monotonic()
    code, writes = attempt(folder, None)
    seconds = time.monotonic() - began
    assert code == 0, logged(folder)
    rng, whole, survived = random.Random(seed), files(folder), 0
    while survived < kills:
        few = min(kills - survived, rng.randint(3, 12))
        moments = [rng.choice([rng.randrange(writes), rng.uniform(0, seconds)]) for _ in range(few)]
        survived += life(folder, whole, moments)
        print(f"  {survived} of {kills}", flush=True)
    print(f"seed {seed}: {survived} of {kills} kills survived; {len(whole)} files as undisturbed")


def main() -> None:
    parser = argparse.ArgumentParser(
        "torture",
        description="Kill a tiny study at random moments, start it again, compare what is left.",
    )
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="torture-"))
    print(f"seed {asked.seed}, in {folder}", flush=True)
    torture(asked.kills, asked.seed, folder / "study")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()

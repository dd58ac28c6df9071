"""`make torture`: a tiny study is killed (SIGKILL) at random moments and started again until it is
done, over and over.

A kill comes from outside after a random time, or from inside at a random one of the study's own
writes: half-way through a file, before and after it is synced, renamed, named on the disk. After
each kill every file of rows and every figure that is there is one of an undisturbed run, byte for
byte; in the end all of them are there. A sweep that is killed: tests/cli/test_sweep.py.
"""

import argparse
import random
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests.faults.victims import Forked

KEPT = ("results/*/rows/*.csv", "results/*/figures/*")


@dataclass
class Torture:
    """Kills of a victim. whole: the files of an undisturbed run; seconds: how long that took."""

    victim: Forked
    rng: random.Random
    whole: dict[str, bytes]
    seconds: float

    def life(self, folder: Path, kills: int) -> int:
        """One study from nothing to its end with at most `kills` kills on the way; how many there
        were. Raises AssertionError.
        """
        prepare(folder)
        for killed in range(kills + 1):
            last = killed == kills
            after = None if last or self.rng.random() < 0.5 else self.rng.uniform(0, self.seconds)
            at = None if last or after is not None else self.rng.randrange(self.victim.writes)
            ended = self.victim.attempt(folder, after, at)
            found = files(folder)
            assert ended in (0, None), f"exit code {ended}: {(folder / 'log').read_text()[-2000:]}"
            assert wrong(found, self.whole) == [], (
                f"not those of an undisturbed run: {wrong(found, self.whole)}"
            )
            if ended == 0:
                assert found.keys() == self.whole.keys(), (
                    f"missing: {self.whole.keys() - found.keys()}"
                )
                return killed
        raise AssertionError("killed without a kill")


def wrong(found: dict[str, bytes], whole: dict[str, bytes]) -> list[str]:
    return sorted(name for name, content in found.items() if whole.get(name) != content)


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


def torture(kills: int, seed: int, folder: Path) -> None:
    """Kills `kills` times and prints how many were survived."""
    victim, survived = Forked(), 0
    prepare(folder)
    began = time.monotonic()
    assert victim.attempt(folder, None, None) == 0, (folder / "log").read_text()[-2000:]
    rack = Torture(victim, random.Random(seed), files(folder), time.monotonic() - began)
    while survived < kills:
        survived += rack.life(folder, min(kills - survived, rack.rng.randint(3, 12)))
        print(f"  {survived} of {kills}", flush=True)
    print(
        f"seed {seed}: {survived} of {kills} kills survived; {len(rack.whole)} files as of an "
        "undisturbed run"
    )


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        "torture",
        description="Kill a tiny study at random moments, start it again, compare what is left.",
    )
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    asked = parser.parse_args(argv)
    folder = Path(tempfile.mkdtemp(prefix="torture-"))
    print(f"seed {asked.seed}, in {folder}", flush=True)
    try:
        torture(asked.kills, asked.seed, folder / "study")
    except AssertionError as error:
        sys.exit(
            f"not survived: {error}\nagain with --kills {asked.kills} --seed {asked.seed}; all is "
            f"in {folder}"
        )
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()

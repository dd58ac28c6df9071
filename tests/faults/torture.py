"""`make torture`: a tiny study is killed (SIGKILL) at random moments and started again until it is
done, over and over.

A kill comes from outside after a random time, or from inside at a random one of the study's own
writes: half-way through a file, before and after it is synced, renamed, named on the disk. After
each kill every file of rows and every figure that is there is one of an undisturbed run, byte for
byte; in the end all of them are there. Some kills hit a real sweep with its jobs instead of one
process.
"""

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.faults.victims import Forked, Sweep, Victim

KEPT = ("results/*/rows/*.csv", "results/*/figures/*")


@dataclass
class Torture:
    """Kills of one kind of victim. whole: the files of an undisturbed run; seconds: how long that
    took; writes: how many of its own.
    """

    victim: Victim
    rng: random.Random
    whole: dict[str, bytes]
    seconds: float
    writes: int

    def life(self, folder: Path, kills: int) -> int:
        """One study from nothing to its end with at most `kills` kills on the way; how many there
        were. Raises AssertionError.
        """
        prepare(folder)
        for killed in range(kills + 1):
            last = killed == kills
            after = (
                None
                if last or (self.writes and self.rng.random() < 0.5)
                else self.rng.uniform(0, self.seconds)
            )
            at = None if last or after is not None else self.rng.randrange(self.writes)
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


def undisturbed(victim: Victim, folder: Path) -> tuple[dict[str, bytes], float, int]:
    prepare(folder)
    began = time.monotonic()
    assert victim.attempt(folder, None, None) == 0, (folder / "log").read_text()[-2000:]
    return files(folder), time.monotonic() - began, victim.writes


def torture(
    kills: int,
    seed: int,
    make: Callable[[], Victim],
    folder: Path,
    whole: dict[str, bytes] | None = None,
) -> dict[str, bytes]:
    """Kills `kills` times, prints how many were survived; returns the files of a whole run."""
    victim, survived = make(), 0
    expected, seconds, writes = undisturbed(victim, folder)
    assert whole in (None, expected), f"two undisturbed runs differ: {wrong(expected, whole or {})}"
    rack = Torture(victim, random.Random(seed), expected, seconds, writes)
    while survived < kills:
        survived += rack.life(folder, min(kills - survived, rack.rng.randint(3, 12)))
        print(f"  {survived} of {kills}", flush=True)
    print(
        f"{victim.name}, seed {seed}: {survived} of {kills} kills survived; "
        f"{len(expected)} files as of an undisturbed run"
    )
    return expected


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        "torture",
        description="Kill a tiny study at random moments, start it again, compare what is left.",
    )
    parser.add_argument("--kills", type=int, default=90, help="kills of one process")
    parser.add_argument("--sweeps", type=int, default=10, help="kills of a sweep with its jobs")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    asked = parser.parse_args(argv)
    folder = Path(tempfile.mkdtemp(prefix="torture-"))
    print(f"seed {asked.seed}, in {folder}", flush=True)
    try:
        whole = torture(asked.kills, asked.seed, Forked, folder / "one")
        if asked.sweeps:
            torture(asked.sweeps, asked.seed, Sweep, folder / "sweep", whole)
    except (AssertionError, subprocess.SubprocessError) as error:
        sys.exit(
            f"not survived: {error}\nagain with --kills {asked.kills} --sweeps {asked.sweeps} "
            f"--seed {asked.seed}; all is in {folder}"
        )
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()

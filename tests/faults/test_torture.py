"""The small form of `make torture`."""

import os
import re
import subprocess
import sys
from pathlib import Path


def test_a_killed_study_ends_as_an_undisturbed_one(tmp_path):
    words = [
        sys.executable,
        "-m",
        "tests.faults.torture",
        "--kills",
        "4",
        "--sweeps",
        "0",
        "--seed",
        "3",
    ]
    environment = os.environ | {"TMPDIR": str(tmp_path), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        words,
        cwd=Path(__file__).parents[2],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"4 of 4 kills survived", done.stdout)

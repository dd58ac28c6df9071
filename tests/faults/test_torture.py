"""The small form of `make torture`."""

import re

import pytest

from tests.support.program import REPOSITORY, python


@pytest.mark.turns
def test_a_killed_study_ends_as_an_undisturbed_one(tmp_path):
    words = ["-m", "tests.faults.torture", "--kills", "4", "--seed", "3"]
    done = python(*words, cwd=REPOSITORY, TMPDIR=str(tmp_path), OMP_NUM_THREADS="1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"4 of 4 kills survived", done.stdout)

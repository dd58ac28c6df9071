"""Completion in bash: choices, options, and lines that are half written."""

import os
import shlex
import shutil
import subprocess
import sys

import pytest

from tests.support.program import REPOSITORY

BASH = """
eval "$(extrap -sc install=bash)"
for COMP_LINE in "$@"; do
    COMP_POINT=${#COMP_LINE} COMP_CWORD=1 COMPREPLY=()
    hydra_bash_completion
    echo "${COMPREPLY[*]}"
done
"""
LINES = {
    "extrap scheme=alib": "scheme=alibi",
    "extrap data/co": "data/corpus=",
    "extrap train.st": "train.steps=",
    "extrap --vers": "",
    "extrap sche?=[": "",
    "extrap plot": "",
}


@pytest.mark.subprocess
@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_choices_and_options(tmp_path):
    program = tmp_path / "extrap"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m extrap "$@"\n')
    program.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", BASH, "bash", *LINES],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY), "PATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.stderr == ""
    assert dict(zip(LINES, done.stdout.splitlines(), strict=True)) == LINES
    assert list(tmp_path.iterdir()) == [program]

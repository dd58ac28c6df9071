"""The commands as they are started, each with a mistake: exit code 2, one line on stderr, nothing
on stdout, nothing written or lost.

What goes wrong before torch is imported costs a second; the whole table of mistakes is
tests/faults/test_bad_input.py.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from extrap.results import rows
from tests.faults.cases_runs import row
from tests.support.plausible import run_rows

REPOSITORY = Path(__file__).parents[2]
COMMANDS: dict[str, str] = {
    "extrap scheme=ropee": "scheme=ropee: no such scheme; did you mean rope? choose one of abacus",
    "extrap task=[nll,kw]": "task=[nll,kw]: no such task; choose one of ",
    "extrap seed=1.5": "seed=1.5: must be a whole number",
    "extrap data/corpus=files": "data.corpus.path=???: needs a value; give data.corpus.path=...",
    "extrap scheme=rope,alibi": (
        "scheme=rope,alibi: several values make a sweep; add -m, or write [a,b] for one list"
    ),
    "extrap --sheme": "unrecognized arguments: --sheme; see extrap --help",
    "extrap data/corpus=files data.corpus.path=none.txt": (
        "data.corpus.path=none.txt: no such file or folder; give an existing"
    ),
    ("extrap data/corpus=files data.corpus.path=deep.jsonl logger=none"): (
        "data.corpus.path=deep.jsonl:1: nested deeper than 100 brackets"
    ),
    "extrap -m seed=0,1 data/corpus=files data.corpus.path=loop": (
        "data.corpus.path=loop: no such file or folder; give an existing"
    ),
    "extrap.cli.plot broken": (
        "results/broken/rows/a.csv:2: value: 'high' is not a number; delete this file and "
        "evaluate its run again"
    ),
    "extrap.cli.plot good nll_curv": "FIGURE=nll_curv: no such figure; figures are ",
    "extrap.cli.table nowhere": (
        "STUDY=nowhere: no such study in results; studies there: broken, good, later"
    ),
    "extrap.cli.table later": (
        "results/later/schema.json: rows of version 2; this program reads and writes 1"
    ),
    "extrap.cli.table good --beside rop": "",
    "extrap.cli.compare good rope": "SERIES=rope: two or more different ones are compared; ",
    "extrap.cli.compare good rope ropee": "SERIES=ropee: no such series; ",
    "extrap.cli.status nowhere": "STUDY=nowhere: no such study; studies here: broken, good, later",
    "extrap.cli.clean good": (
        "nothing to remove; add --runs (weights, checkpoints, logs), --rows (results) or both"
    ),
    "extrap.cli.clean good nothing --rows --yes": "RUN=nothing: not in study good; its runs are ",
    "extrap.cli.clean good --rows": "nobody to ask; add --yes to remove them",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("work")
    rows.write(
        made / "results/good/rows/rope-1-s0__direct__nll.csv",
        [r | {"run": "rope-1-s0", "study": "good"} for r in run_rows("rope")],
    )
    for study in ("broken", "later"):
        rows.write(made / f"results/{study}/rows/a.csv", [row(study=study)])
    path = made / "results/broken/rows/a.csv"
    path.write_bytes(path.read_bytes().replace(b",2.5,", b",high,"))
    (made / "results/later/schema.json").write_text('{"rows": 2}')
    (made / "deep.jsonl").write_text("[" * 5000)
    (made / "loop").symlink_to("loop")
    return made


@pytest.mark.sample(5)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_mistake_in_a_command(command: str, folder: Path) -> None:
    before = seen(folder)
    module, *words = command.split()
    environment = {
        k: v for k, v in os.environ.items() if not k.startswith(("EXTRAP_", "HYDRA_"))
    } | {"PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(
        [sys.executable, "-m", module, *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    lines = done.stderr.splitlines()
    assert (done.returncode, len(lines)) == (2, 1), done.stderr
    assert lines[0].startswith(f"{module.replace('.cli.', '-')}: {COMMANDS[command]}")
    assert seen(folder) == before


def seen(folder: Path) -> dict[Path, int]:
    """Everything but maps of text, and when it was written."""
    return {
        path: path.lstat().st_mtime_ns for path in folder.rglob("*") if "runs" not in path.parts
    }

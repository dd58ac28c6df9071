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
from tests.faults.golden import Messages, table
from tests.support.plausible import run_rows

REPOSITORY = Path(__file__).parents[2]
COMMANDS = table("""
extrap scheme=ropee -> scheme
extrap task=[nll,kw] -> task
extrap seed=1.5 -> seed
extrap data/corpus=files -> data.corpus.path
extrap scheme=rope,alibi -> scheme
extrap --sheme -> unrecognized arguments
extrap data/corpus=files data.corpus.path=none.txt -> data.corpus.path
extrap data/corpus=files data.corpus.path=deep.jsonl logger=none -> data.corpus.path
extrap -m seed=0,1 data/corpus=files data.corpus.path=loop -> data.corpus.path
extrap.cli.plot broken -> results/broken/rows/a.csv
extrap.cli.plot good nll_curv -> FIGURE
extrap.cli.table nowhere -> STUDY
extrap.cli.table later -> results/later/schema.json
extrap.cli.table good --beside rop -> --beside
extrap.cli.compare good rope -> SERIES
extrap.cli.compare good rope ropee -> SERIES
extrap.cli.status nowhere -> STUDY
extrap.cli.clean good -> nothing to remove
extrap.cli.clean good nothing --rows --yes -> RUN
extrap.cli.clean good --rows -> cannot ask for confirmation
""")


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
def test_a_mistake_in_a_command(command: str, folder: Path, messages: Messages) -> None:
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
    program, _, line = lines[0].partition(": ")
    assert program == module.replace(".cli.", "-")
    messages.check(command, COMMANDS[command], line)
    assert seen(folder) == before


def seen(folder: Path) -> dict[Path, int]:
    """Everything but maps of text, and when it was written."""
    return {
        path: path.lstat().st_mtime_ns for path in folder.rglob("*") if "runs" not in path.parts
    }

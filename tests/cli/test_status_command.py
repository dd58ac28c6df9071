"""`extrap status`: states, times, what is left and the commands that do it."""

import json
import shlex

import pytest

from extrap.cli import status
from extrap.results.places import PACKED
from extrap.runs.layout import RESULTS
from extrap.runs.study import Entry, entries, standing
from extrap.utils import progress
from tests.runs.test_study import CONFIG, asked, finished

pytestmark = pytest.mark.usefixtures("elsewhere")


def test_the_command_lists_states_times_what_is_left_and_what_does_it(capsys):
    finished("rope-1-s0")
    finished("nope-1-s0", "not trained")
    asked("t5-1-s0").fail("out of memory")
    asked("alibi-1-s0", extension="pi,factor=4")
    status.main(["s"])
    head, *jobs, left, command = capsys.readouterr().out.splitlines()
    assert head == "study s: 4 jobs: 1 done, 1 below the gate, 1 failed, 1 missing"
    assert [(line[:17].strip(), line.split("  left: ")[1:]) for line in jobs] == [
        ("failed", ["train, kv  out of memory"]),
        ("missing", ["train, kv"]),
        ("done", []),
        ("below the gate", []),
    ]
    assert "2 jobs, about 4:00" in left and command == "  extrap -m study=s"


PLANTED = {
    "extrap -m 'study=a b' scheme=rope,t5": "extrap -m 'study=a b' scheme=rope,t5",
    "extrap seed=1; rm -rf ~": "extrap 'seed=1;' rm -rf '~'",
    "extrap $(touch a) `touch b` > c": "extrap '$(touch' 'a)' '`touch' 'b`' '>' c",
    "extrap seed=1\nrm -rf ~": "extrap seed=1 rm -rf '~'",
    "rm -rf ~": None,
    "extrap; rm -rf ~": None,
    "extrap 'seed=1": None,
    "": None,
}


@pytest.mark.parametrize("command", PLANTED)
def test_commands_are_quoted_for_a_shell_or_not_shown(command):
    Entry("s", "rope-1-s0", "direct", {"kv": CONFIG}, command).write()
    jobs = [standing(entry) for entry in entries("s")]
    *_, last = status.text("s", jobs).splitlines()
    assert last == (f"  {PLANTED[command]}" if PLANTED[command] else "left to run: 1 job")
    found = status.values("s", jobs)["commands"]
    assert found == ([shlex.split(command)] if PLANTED[command] else [])


def test_tasks_left_are_asked_for_by_the_commands_of_all(capsys):
    for task in ("kv", "nll"):
        Entry("s", "rope-1-s0", "direct", {task: CONFIG}, f"extrap task=[{task}]").write()
    status.main(["s"])
    *_, first, second = capsys.readouterr().out.splitlines()
    assert (first, second) == ("  extrap 'task=[kv]'", "  extrap 'task=[nll]'")
    Entry("s", "rope-1-s0", "direct", {"kv": CONFIG}, "extrap again").write()
    [entry] = entries("s")
    assert entry.commands == ["extrap task=[nll]", "extrap again"], "the last one that asked"
    Entry("s", "rope-1-s0", "direct", {"kv": CONFIG, "nll": CONFIG}, "extrap seed=0").write()
    [entry] = entries("s")
    assert entry.commands == ["extrap seed=0"], "it asks for all of them"


def test_a_running_job_says_how_far_it_is(capsys):
    entry = asked("rope-1-s0", extension="pi,factor=8")
    other = asked("rope-1-s0", extension="pi,factor=8.5")
    state = {"phase": "kv", "done": 45, "total": 180, "note": "length 256", "left": 190.4}
    with entry.folder.alone_at(entry.work), progress.kept(entry.report):
        progress.write(state)
        standing_now = standing(entry)
        status.main(["s"])
        status.main(["s", "--json"])
    assert standing_now.doing["done"] == 45
    text, said = capsys.readouterr().out.split("{", 1)
    line = next(line for line in text.splitlines() if line.startswith("  running"))
    assert "kv 25 %, 3:10 left, length 256  left: train, kv  process " in line
    found = json.loads("{" + said)
    assert found["counts"] == {"running": 1, "missing": 1}
    doing = {job["extension"]: job["doing"].get("done") for job in found["jobs"]}
    assert doing == {"pi,factor=8": 45, "pi,factor=8.5": None}
    assert not list(other.log.parent.glob(".*.json"))


DOING = [
    "[]",
    '{"phase": ["\\u001b[2J"], "done": "many", "total": 3, "note": {}, "left": -1}',
]


@pytest.mark.parametrize("content", DOING)
def test_what_a_progress_file_holds_is_data(content, capsys):
    entry = asked("rope-1-s0")
    with entry.folder.alone_at(entry.work):
        entry.report.write_text(content)
        for more in ([], ["--json"]):
            status.main(["s", *more])
            out = capsys.readouterr().out
            assert "running" in out and "\x1b" not in out


def test_all_studies_as_json(capsys):
    finished("rope-1-s0")
    asked("t5-1-s0", study="b")
    status.main(["--json"])
    said = {"studies": {"b": {"missing": 1}, "s": {"done": 1}}}
    assert json.loads(capsys.readouterr().out) == said


def test_a_study_that_cannot_be_read_is_a_line_beside_the_others(capsys):
    finished("rope-1-s0")
    damaged = RESULTS / "b" / PACKED
    damaged.parent.mkdir()
    damaged.write_bytes(b"PAR1 and no more")
    status.main([])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"b  {damaged}: no packed rows")
    assert lines[1] == "s  1 job: 1 done"
    status.main(["--json"])
    found = json.loads(capsys.readouterr().out)["studies"]
    assert found["s"] == {"done": 1} and "no packed rows" in found["b"]["error"]
    with pytest.raises(SystemExit):
        status.main(["b"])

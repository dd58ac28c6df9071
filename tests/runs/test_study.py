"""The jobs of a study and what has become of each: `extrap status`."""

import os
import threading
from pathlib import Path

import pytest

from extrap.cli import status
from extrap.results import rows
from extrap.runs.folder import Named
from extrap.runs.study import Entry, State, entries, standing, studies, write
from extrap.utils import lock
from tests.support.plausible import run_rows
from tests.support.program import until

CONFIG = "c0ffee"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def asked(
    run: str, study: str = "s", extension: str = "direct", tasks: tuple[str, ...] = ("train", "kv")
) -> Entry:
    entry = Entry(study, run, extension, dict.fromkeys(tasks, CONFIG), f"extrap -m study={study}")
    entry.write()
    return entry


def trained(run: str, state: str = "trained", seconds: float = 60.0) -> None:
    folder = Named(run)
    folder.folder.mkdir(parents=True, exist_ok=True)
    folder.weights.write_bytes(b"weights")
    folder.curve.write_text("{}")
    folder.mark(state, 10, {"seconds": seconds})


def evaluated(entry: Entry, task: str, status: str = "ok", config: str = CONFIG) -> None:
    wanted = [
        row | {"run": entry.run, "study": entry.study, "config": config}
        for row in run_rows("rope")
        if row["task"] == task
    ]
    rows.write(entry.file(task).rows, [row | {"status": status} for row in wanted])
    entry.folder.mark_evaluated(
        entry.file(task).note, config, entry.file(task).rows, {"seconds": 30.0}
    )


def finished(run: str, status: str = "ok", **more) -> Entry:
    entry = asked(run, **more)
    trained(run)
    for task in entry.tasks:
        evaluated(entry, task, status)
    return entry


def told(entry: Entry) -> tuple[State, list[str], str]:
    found = standing(entry)
    return found.state, found.left, found.note


def test_missing_resumable_failed_done():
    entry = asked("rope-1-s0")
    assert told(entry) == (State.MISSING, ["train", "kv"], "")
    entry.folder.folder.mkdir(parents=True)
    entry.folder.checkpoint.write_bytes(b"half")
    assert told(entry) == (State.RESUMABLE, ["train", "kv"], "")
    entry.fail("RuntimeError: the loss went up\nand more")
    assert told(entry) == (State.FAILED, ["train", "kv"], "RuntimeError: the loss went up")
    entry.folder.fail(None)
    trained("rope-1-s0")
    evaluated(entry, "train")
    assert told(entry) == (State.RESUMABLE, ["kv"], "")
    evaluated(entry, "kv")
    assert told(entry) == (State.DONE, [], "")
    assert standing(entry).seconds == 60 + 2 * 30
    entry.fail("a second sweep that came too late")
    assert told(entry)[0] is State.DONE


def test_rows_of_another_configuration_or_changed_by_hand_are_left_to_do():
    entry = finished("rope-1-s0")
    evaluated(entry, "kv", config="other")
    assert told(entry) == (State.RESUMABLE, ["kv"], "")
    evaluated(entry, "kv")
    entry.file("kv").rows.write_text("")
    assert told(entry) == (State.RESUMABLE, ["kv"], "")


def test_running_is_a_lock_that_somebody_holds():
    entry, done = asked("rope-1-s0"), finished("t5-1-s0")
    with lock.alone(entry.folder.folder), lock.alone(done.folder.folder):
        assert told(entry)[0] is State.RUNNING
        assert told(entry)[2].startswith("process ")
        assert entry.busy()
        assert told(done)[0] is State.DONE
    assert told(entry)[0] is State.MISSING


def test_parts_of_a_run_are_done_side_by_side():
    plain, far = asked("rope-1-s0"), asked("rope-1-s0", extension="pi")
    trained("rope-1-s0")
    with plain.folder.alone_at(plain.work):
        assert (told(plain)[0], told(far)[0]) == (State.RUNNING, State.RESUMABLE)
        with far.folder.alone_at(far.work):
            assert (told(plain)[0], told(far)[0]) == (State.RUNNING, State.RUNNING)
            assert lock.any_part(far.folder.folder) is not None
    assert lock.any_part(far.folder.folder) is None
    with far.folder.alone():
        assert plain.busy() and far.busy()
    assert not plain.busy() and not far.busy()


def test_a_part_waits_for_training_and_for_the_same_part(capsys):
    entry = asked("rope-1-s0")
    steps = []

    def part(name: str) -> None:
        with entry.folder.alone_at(entry.work):
            steps.append(name)

    for name, holding in (
        ("after training", entry.folder.alone()),
        ("after the same part", entry.folder.alone_at(entry.work)),
    ):
        with holding:
            thread = threading.Thread(target=part, args=[name])
            thread.start()
            until(lambda: "waiting for it" in capsys.readouterr().err)
            steps.append("done")
        thread.join()
    assert steps == ["done", "after training", "done", "after the same part"]


def test_who_does_not_want_to_wait_for_a_training_is_told_who_holds_it():
    folder = asked("rope-1-s0").folder
    with folder.alone(), pytest.raises(lock.Held, match=r"^process "), folder.alone(wait=False):
        pass


def test_a_run_of_a_later_version_hides_no_other_job(capsys):
    entry, done = finished("rope-1-s0"), finished("t5-1-s0")
    (entry.folder.folder / "state.json").write_text('{"schema": 99}')
    state, left, note = told(entry)
    assert (state, left) == (State.FAILED, []) and "a run folder of version 99" in note
    assert told(done)[0] is State.DONE
    status.main([])
    assert capsys.readouterr().out == "s  2 jobs: 1 done, 1 failed\n"


def test_failures_and_logs_are_of_an_extension():
    plain, far = asked("rope-1-s0"), asked("rope-1-s0", extension="pi")
    trained("rope-1-s0")
    far.fail("no memory")
    assert told(plain)[0] is State.RESUMABLE
    assert told(far) == (State.FAILED, ["train", "kv"], "no memory")
    assert (plain.log.name, far.log.name) == ("log.txt", "log-pi.txt")
    far.folder.fail(None, "pi")
    assert told(far)[0] is State.RESUMABLE


def test_what_a_killed_process_left_among_the_jobs_is_removed():
    folder = asked("rope-1-s0").path.parent
    for name in (".a.json.1.tmp", ".b.json.2.tmp"):
        (folder / name).touch()
    os.utime(folder / ".a.json.1.tmp", (0, 0))
    asked("rope-1-s0")
    left = {"rope-1-s0__direct.json", ".b.json.2.tmp"}  # which may be written now
    assert {path.name for path in folder.iterdir()} == left


def test_what_did_not_train_and_what_diverged():
    assert told(finished("nope-1-s0", "not trained"))[0] is State.BELOW_GATE
    diverged = asked("t5-1-s0")
    trained("t5-1-s0", "diverged")
    assert told(diverged) == (State.RESUMABLE, ["train"], "")
    evaluated(diverged, "train", "diverged")
    assert told(diverged) == (State.DIVERGED, [], "")


def test_rows_without_run_folders_are_a_study_too():
    entry = Entry("old", "rope-1-s0", "pi,factor=4", {})
    for task, extension in (("kv", "pi,factor=4"), ("train", "direct")):
        file = Path("results/old/rows") / f"rope-1-s0__{extension}__{task}.csv"
        own = [row | {"study": "old"} for row in run_rows("rope") if row["task"] == task]
        rows.write(file, own)
    assert studies() == ["old"]
    found = {(e.run, e.extension): e for e in entries("old")}
    assert set(found) == {("rope-1-s0", "pi,factor=4"), ("rope-1-s0", "direct")}
    whole = file.with_name("rope-1-s0__pi,factor=4__kv.csv")
    content = whole.read_text()
    whole.write_text(content.splitlines(keepends=True)[0])
    assert told(found["rope-1-s0", entry.extension])[0] is State.MISSING, "a header is no row"
    whole.write_text(content)
    rest = [], "rows without their run folder"
    assert told(found["rope-1-s0", entry.extension]) == (State.DONE, *rest)


def test_a_job_keeps_its_tasks_and_takes_their_newest_configuration():
    asked("rope-1-s0", tasks=("train", "kv"))
    Entry("s", "rope-1-s0", "direct", {"kv": "new", "nll": "new"}, "extrap").write()
    [entry] = entries("s")
    assert entry.tasks == {"train": CONFIG, "kv": "new", "nll": "new"}


def test_two_jobs_of_a_sweep_keep_the_tasks_of_both():
    both = [
        Entry("s", "rope-1-s0", "direct", {task: CONFIG}, "extrap -m") for task in ("kv", "nll")
    ]
    write(both)
    [entry] = entries("s")
    assert entry.tasks == {"kv": CONFIG, "nll": CONFIG}


def test_a_job_that_trains_alone_is_missing_until_it_began():
    entry = asked("rope-1-s0", tasks=())
    assert told(entry) == (State.MISSING, ["train"], "")
    entry.fail("out of memory")
    assert told(entry)[0] is State.FAILED
    entry.folder.fail(None)
    assert told(entry) == (State.MISSING, ["train"], "")
    trained("rope-1-s0")
    assert told(entry) == (State.DONE, [], "")

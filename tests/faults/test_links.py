"""Nothing is written through a link, or read out of a folder by one."""

from pathlib import Path

import pytest

from extrap.audit import zoo
from extrap.cli.plot import main as plot
from extrap.cli.plot import plot_analytic
from extrap.cli.sweep.process import Process, State
from extrap.data.corpora.files import Files
from extrap.runs.dashboard import Curves
from extrap.runs.dashboard.page import Page
from extrap.runs.study import Entry
from extrap.utils.errors import UserError
from tests.runs.test_study import finished as finish
from tests.support.jobs import job

pytestmark = pytest.mark.usefixtures("elsewhere")


@pytest.mark.parametrize("name", [".", "done", "weights.pt", ".lock"])
def test_nothing_is_written_through_a_link_in_a_run_folder(tmp_path, name):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / ".theirs.tmp").write_text("kept")
    run = job("scheme=rope").run
    link = run.folder / name
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(outside / ".theirs.tmp" if "." in name[1:] or name == ".lock" else outside)
    with (
        pytest.raises(
            UserError, match=rf"^{link}: a link, and extrap does not write through links"
        ),
        run.alone(),
    ):
        pass
    assert {path.name: path.read_text() for path in outside.iterdir()} == {".theirs.tmp": "kept"}


def test_nothing_is_written_through_a_link_in_a_study(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    finish("rope-1-s0")
    Path("results/s/figures").symlink_to(outside)
    with pytest.raises(SystemExit, match="2"):
        plot(["s", "training_curves"])
    Path("runs/.jobs/t").symlink_to(outside)
    with pytest.raises(UserError, match=r"runs/\.jobs/t: a link"):
        Entry("t", "rope-1-s0", "direct", {}).write()
    assert list(outside.iterdir()) == []


def plotted() -> None:
    plot_analytic(Path("results"), ["alibi_bias"])


def audited() -> None:
    subjects = zoo.subjects(["nope"])
    zoo.write(zoo.audit(subjects), Path("results/audit"))


def indexed() -> None:
    Path("a.txt").write_text("some text\n" * 4000)
    Files(path="a.txt").open()


def noted() -> None:
    Entry("t", "rope-1-s0", "direct", {}).write()


def started() -> None:
    process = Process("a", ["true"], Entry("t", "rope-1-s0", "direct", {}))
    process.start()
    process.fail(process.reason)  # which a sweep survives
    raise UserError(process.reason.removeprefix("could not start: "))


@pytest.mark.parametrize(
    ("place", "call"),
    [
        ("results/analytic/figures", plotted),
        ("results/audit/figures", audited),
        ("runs/.tokens", indexed),
        ("runs/.jobs", noted),
        ("runs/rope-1-s0", started),
    ],
)
def test_nothing_is_written_through_a_link_to_a_folder(place, call, tmp_path, monkeypatch):
    monkeypatch.delenv("EXTRAP_TOKENS")
    outside = tmp_path / "outside"
    outside.mkdir()
    Path(place).parent.mkdir(parents=True, exist_ok=True)
    Path(place).symlink_to(outside)
    with pytest.raises(
        UserError, match=rf"^{place}: a link, and extrap does not write through links"
    ):
        call()
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("link", ["curves", "curves/rope-1-s0", "curves/rope-1-s0/version_0"])
def test_a_logger_writes_through_no_link(link, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    Path(link).parent.mkdir(parents=True, exist_ok=True)
    Path(link).symlink_to(outside)
    logger = Curves("csv", "curves")
    logger.start(Page("s", "rope-1-s0", "direct", "rope", "mixture", 0, 64, ("kv",)))
    with pytest.raises(UserError, match=rf"^{link}: a link, and extrap does not write through"):
        logger.lightning()
    assert list(outside.iterdir()) == []


def test_our_folders_themselves_may_lie_on_another_disk(tmp_path):
    (tmp_path / "scratch").mkdir()
    Path("runs").rmdir()
    Path("runs").symlink_to(tmp_path / "scratch")
    noted()
    assert (tmp_path / "scratch/.jobs/t/rope-1-s0__direct.json").is_file()


def test_a_folder_of_text_does_not_reach_out_of_itself(tmp_path):
    (tmp_path / "secret").write_text("theirs")
    Path("texts/deep").mkdir(parents=True)
    Path("texts/a.txt").write_text("mine")
    Path("texts/deep/b.txt").symlink_to("../a.txt")
    assert list(Files(path="texts").documents()) == [("a.txt", b"mine")]  # inside, and once
    Path("texts/deep/c.txt").symlink_to(tmp_path / "secret")
    for path in ("texts", "texts/**/*.txt"):
        with pytest.raises(UserError, match=r"texts: deep/c\.txt is a link to .*secret, outside"):
            list(Files(path=path).documents())
        asked = Files(path=path, links=True)
        assert [text for _, text in asked.documents()] == [b"mine", b"theirs"]
    Path("texts/deep/c.txt").unlink()
    Path("texts/d").symlink_to(tmp_path)
    with pytest.raises(UserError, match=r"texts: d/secret is a link to .*secret, outside"):
        list(Files(path="texts/*/*").documents())


def test_a_log_is_not_written_through_a_link(tmp_path):
    (tmp_path / "theirs").write_text("kept")
    process = Process("a", ["true"], Entry("t", "rope-1-s0", "direct", {}))
    process.entry.folder.folder.mkdir(parents=True)
    process.entry.log.symlink_to(tmp_path / "theirs")
    process.start()
    assert process.state is State.FAILED and process.reason.startswith("could not start: ")
    assert (tmp_path / "theirs").read_text() == "kept"

"""What all tests share: one thread, nothing of the user's environment, the same random numbers
whichever test is next.
"""

import atexit
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

THEIRS = (
    "EXTRAP_",
    "HYDRA_",
    "WANDB_",
    "SLURM_",
    "SUBMITIT_",
    "TQDM_",
    "HF_",
    "XDG_",
    "MPL",
    "COLUMNS",
    "LINES",
    "NO_COLOR",
    "FORCE_COLOR",
    "GIT_DIR",  # these three in a hook of git
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
)
"""Beginnings of names. CUDA_VISIBLE_DEVICES stays: tests keep to the GPUs that they were given."""
for name in list(os.environ):
    if name.startswith(THEIRS) or name.lower().endswith("_proxy"):
        del os.environ[name]
os.environ |= {"OMP_NUM_THREADS": "1", "WANDB_MODE": "offline"}
os.environ |= dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost")
if "PYTEST_XDIST_WORKER" not in os.environ:  # workers get that of the process that started them
    os.environ["HOME"] = tempfile.mkdtemp(prefix="extrap-tests-")
    atexit.register(shutil.rmtree, os.environ["HOME"], ignore_errors=True)

import matplotlib.font_manager  # noqa: F401  lists the fonts now: a command that does and is slow says so where one line is expected
import pytest
import torch
from hydra.core.hydra_config import HydraConfig
from hypothesis import HealthCheck, settings

import extrap
from extrap.results import rows
from tests.support import discover, plausible, sample
from tests.support.program import tiny, worker  # noqa: F401  fixtures

torch.set_num_threads(1)
settings.register_profile(
    "here",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("here")
sys.path.append(
    str(Path(extrap.__file__).parent / "cli" / "_plugins")
)  # Hydra looks for plug-ins once, in whichever test needs it first


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup(
        "extrap", "schemes, extensions, tasks, figures of a package of your own"
    )
    group.addoption("--config-dir", type=Path, metavar="DIR", help="its configuration files")
    group.addoption(
        "--write-messages", action="store_true", help="write tests/faults/messages.txt (no -n)"
    )
    group.addoption("--plug-in", metavar="NAME", help="the package; it must be importable")
    group.addoption("--all", action="store_true", help="every case in place of a sample")
    group.addoption("--fast", action="store_true", help="one case of every third quick test")


def pytest_configure(config: pytest.Config) -> None:
    """Before anything is collected: contracts are parametrized by what there is."""
    if config.getoption("--config-dir"):
        discover.FOLDERS.append(config.getoption("--config-dir").resolve())
    if config.getoption("--plug-in"):
        discover.PLUGINS.append(config.getoption("--plug-in"))
    sample.PARTS.update(all=config.getoption("--all"), fast=config.getoption("--fast"))


def pytest_report_header() -> str:
    return sample.header()


@pytest.hookimpl(trylast=True)  # after -k and -m
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    sample.choose(config, items, discover.theirs())


def pytest_itemcollected(item: pytest.Item) -> None:
    """Marks the tests that start processes, by what they use."""
    uses = {"tiny", "worker"} & set(getattr(item, "fixturenames", ()))
    module = getattr(item, "module", None)
    if uses or hasattr(module, "subprocess") or hasattr(module, "python"):
        item.add_marker("subprocess")


@pytest.fixture(autouse=True)
def drawn_alike() -> Iterator[None]:
    torch.manual_seed(0)
    HydraConfig.instance().cfg = None  # as in a process of its own: a program leaves its own here
    root = logging.getLogger()
    handlers, level = [*root.handlers], root.level
    yield
    root.handlers[:] = handlers  # hydra.verbose=true leaves its own, too
    root.setLevel(level)


@pytest.fixture(scope="session", autouse=True)
def at_home(tmp_path_factory):
    """The root of the repository as working folder, wherever pytest was started; token maps lie
    outside of it, each built once per test process.
    """
    cache = tmp_path_factory.mktemp("corpus") / "tokens"
    cache.mkdir()
    os.environ["EXTRAP_TOKENS"] = str(cache)
    os.chdir(Path(__file__).parents[1])


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    return tmp_path


@pytest.fixture(scope="session")
def frame(tmp_path_factory):
    """Writes rows (dicts) and reads them back as a frame."""

    def read(written):
        study = tmp_path_factory.mktemp("study")
        rows.write(study / "rows" / "a.csv", written)
        return rows.read(study)

    return read


@pytest.fixture(scope="session")
def demo(frame):
    """Seven schemes and the controls, one seed."""
    return frame(plausible.study_rows() + plausible.control_rows())

"""Dashboards show a study and stop nothing: extrap writes to them and never reads from them."""

import io
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from extrap.results.sheets import Sheet
from extrap.runs.dashboard import library, view
from extrap.runs.dashboard.library import reason
from extrap.runs.dashboard.page import BEST, Page
from extrap.utils.atomic import check_local, make_folder
from extrap.utils.errors import UserError, printable

if TYPE_CHECKING:
    import pandas as pd

Mode = Literal["offline", "online"]

UPLOAD = 120.0
"""Seconds that sending may take after a run; `wandb sync` sends the rest from the disk."""


class Dashboard:
    """Shows nothing; the base of the others. A job calls the methods in this order."""

    def start(self, page: Page) -> None:
        """Opens a page."""

    def lightning(self) -> Any:
        """Returns Lightning's logger of the training curve; False for none."""
        return False

    def spent(self, cost: Mapping[str, float | None]) -> None:
        """Shows what training cost, by names of extrap.runs.cost."""

    def log(self, task: str, rows: Sequence[dict]) -> None:
        """Shows the rows of one task."""

    def draw(self, sheets: Sequence[Sheet], plugins: Sequence[str] = ()) -> None:
        """Shows figures of the rows in files. plugins: packages with figures of their own."""

    def finish(self, code: int = 0) -> None:
        """Closes the page. code: 0 unless the job failed."""


class ViewOnly:
    """A dashboard until one of its methods fails; then one warning, and nothing more.

    An unwritable folder, a project that the server rejects, no memory for an image: the
    measurements go on.
    """

    def __init__(self, shown: Dashboard):
        self.shown, self.failed = shown, False

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return self._guarded(getattr(self.shown, name))

    def _guarded(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def guarded(*given: Any, **more: Any) -> Any:
            if self.failed:
                return None
            try:
                return call(*given, **more)
            except Exception as error:  # libraries raise errors of any class
                self.failed = True
                warning = f"extrap: logger: {reason(error)}; going on without it"
                print(f"{warning}, logger=none leaves it out", file=sys.stderr)

        return guarded

    def lightning(self) -> Any:
        if logger := self._guarded(self.shown.lightning)():
            for name in ("log_metrics", "save", "finalize"):  # each writes
                setattr(logger, name, self._guarded(getattr(logger, name)))
        return logger or False


class Curves(Dashboard):
    """Training curves by Lightning's own loggers.

    Args:
        kind: tensorboard writes what TensorBoard reads (pip install tensorboard), csv writes
            metrics.csv; both in folder/<run>/version_<n>, a new one when a run resumes
        folder: a folder of this machine, which the command line alone sets
    """

    def __init__(self, kind: Literal["tensorboard", "csv"], folder: str):
        if not folder:
            raise ValueError(f"folder={folder}: needs a name")
        if "://" in folder or "::" in folder:  # Lightning would write to another machine
            raise ValueError(f"folder={folder}: an address; give a folder of this machine")
        self.kind, self.folder = kind, folder

    def start(self, page: Page) -> None:
        self.run = page.run

    def lightning(self) -> Any:
        from lightning.pytorch.loggers import CSVLogger, TensorBoardLogger

        check_local(place := Path(self.folder, self.run))
        make_folder(place)
        where = {"save_dir": Path(self.folder).absolute(), "name": self.run}
        if self.kind == "csv":  # by default at step 99, 199, ..., which no point has
            return CSVLogger(**where, flush_logs_every_n_steps=1)
        return TensorBoardLogger(**where)


class WandB(Dashboard):
    """The dashboard of Weights & Biases.

    Args:
        mode: offline writes below ./wandb and needs neither key nor network; online gives up after
            `timeout` seconds and goes on offline with one warning
        project: the project of all pages
        entity: the user or team that owns the project; null: the owner of the key
        timeout: seconds to wait for the server, at least 1
    """

    def __init__(
        self,
        project: str = "extrap",
        entity: str | None = None,
        mode: Mode = "offline",
        timeout: int = 20,
    ):
        if timeout < 1:
            raise ValueError(f"timeout={timeout}: at least 1 second")
        if not project:
            raise ValueError(f"project={project}: needs a name")
        self.project, self.entity, self.mode, self.timeout = project, entity, mode, timeout
        self.run: Any = None
        self._seen_training = self._known = False

    def library(self) -> Any:
        """Returns the library that makes tables, images and pages of HTML."""
        return library.wandb(self.mode == "online")

    def start(self, page: Page, resume: str | None = "allow") -> None:
        """Opens the page, or continues it. resume=None: replaces the page on the server."""
        if self.run is not None:
            return
        self._known = bool(page.trained)
        try:
            if self.mode == "online":
                library.log_in()
            self.run = self._init(page, resume)
        except Exception as error:  # a server can refuse in any way
            if self.mode == "offline":
                raise
            # wandb's service holds on to the id of a page that it could not open
            library.wandb().teardown()
            self.mode = "offline"
            self.run = self._init(page, resume)
            why = f"extrap: logger.mode=online: {reason(error)}"
            print(f"{why}; going on offline, `wandb sync` sends the run later", file=sys.stderr)
        for metric, axis in view.AXES.items():
            self.run.define_metric(metric, step_metric=axis)
        if page.best:
            self.run.summary.update({BEST + name: value for name, value in page.best.items()})

    def _init(self, page: Page, resume: str | None) -> Any:
        library.check_folder(Path.cwd())
        wandb = library.wandb(self.mode == "online")
        if not {"HOME", "XDG_CACHE_HOME"} & os.environ.keys():  # its service keeps logs there
            os.environ["XDG_CACHE_HOME"] = str(Path.cwd() / "wandb" / ".cache")
        quiet = wandb.Settings(
            silent=True, console="off", quiet=True, finish_timeout=UPLOAD, disable_git=True,
            use_dot_wandb=False,
        )  # fmt: skip
        if self.mode == "online":
            quiet.init_timeout = self.timeout
        if resume is None:  # a page made from rows says nothing about the machine that makes it
            quiet.x_disable_stats = quiet.x_disable_meta = True
            quiet.x_save_requirements = False
        where = {"mode": self.mode, "resume": resume, "dir": Path.cwd()}
        if "WANDB_SWEEP_ID" in os.environ:
            library.name_in_sweep(page.id, self.project, page.by_agent)
        else:
            where |= {"project": self.project, "entity": self.entity, "id": page.id}
        what = {"name": page.name, "group": page.study, "job_type": page.job_type,
                "tags": page.tags, "config": page.config}  # fmt: skip
        return wandb.init(settings=quiet, **where, **what)

    def lightning(self) -> Any:
        from lightning.pytorch.loggers import Logger

        run, self._seen_training = self.run, True

        class ToRun(Logger):
            name, version = "wandb", run.id

            def log_metrics(self, metrics: dict[str, float], step: int | None = None) -> None:
                # a resumed run repeats steps that the page has
                if step is not None and step >= run.step:
                    run.log(metrics | {"train/step": step}, step=step, commit=True)

            def log_hyperparams(self, *args: Any, **kwargs: Any) -> None: ...

        return ToRun()

    def spent(self, cost: Mapping[str, float | None]) -> None:
        self.run.summary.update({f"cost/{name}": x for name, x in cost.items() if x is not None})

    def log(self, task: str, rows: Sequence[dict]) -> None:
        """Shows the rows of one task as history, table and summary."""
        if not self._seen_training:
            for point in view.curve(rows):
                if (step := int(point["train/step"])) >= self.run.step:
                    self.run.log(point, step=step, commit=True)
        for point in (*view.by_length(task, rows), *view.by_depth(task, rows)):
            self.run.log(point)
        if data := view.table(rows):
            self.table(f"table/{task}", view.COLUMNS, data)
        self.run.summary.update(view.summary(task, rows))
        if not self._known:
            passed = all(row["status"] == "ok" for row in rows)
            self.run.config.update({f"trained/{task}": passed}, allow_val_change=True)

    def table(self, name: str, columns: Sequence[str], data: Sequence[Sequence[Any]]) -> None:
        """Shows one table."""
        self.run.log({name: self.library().Table(columns=list(columns), data=list(data))})

    def draw(self, sheets: Sequence[Sheet], plugins: Sequence[str] = ()) -> None:
        from extrap.results import rows

        if self.run is None:  # the job had nothing left to measure
            return
        written = [sheet.records() for sheet in sheets if sheet.exists()]
        self.figures(rows.frame([*chain.from_iterable(written)]), plugins)

    def figures(self, rows: "pd.DataFrame", plugins: Sequence[str] = ()) -> None:
        """Shows every figure of these rows as an image; one that cannot be drawn is left out, with
        a line on stderr.
        """
        from PIL import Image

        from extrap import figures

        for name, figure in figures.available(plugins=plugins).items():
            try:
                drawn = figures.render(figure, rows, kinds=("png",))
            except UserError as error:
                line = f"extrap: figure {name} is left out of the dashboard: {error}"
                print(printable(line), file=sys.stderr)
                continue
            if drawn is not None:
                image = Image.open(io.BytesIO(drawn["png"]))
                shown = self.library().Image(image, caption=figures.caption(figure))
                self.run.log({f"figure/{name}": shown})

    def page(self, text: str) -> None:
        """Shows a page of HTML as a panel, in a frame of its own."""
        self.run.log({"report": self.library().Html(text, inject=False)})

    def finish(self, code: int = 0) -> None:
        if self.run is not None:
            self.run.finish(exit_code=code)
            self.run = None

"""Weights & Biases is a view of the rows: written, never read. Offline unless asked, never asking
anything itself.

One W&B run per (study, run, extension), grouped by study. What is in it:
extrap/runs/dashboard/view.py.
"""

import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from extrap.runs.dashboard import library, view
from extrap.runs.dashboard.online import obstacle
from extrap.runs.dashboard.page import BEST, Page, trained
from extrap.runs.dashboard.reason import reason

Mode = Literal["offline", "online"]

UPLOAD = 120.0
"""Seconds that sending may go on when a run is over; what has not gone by then stays on the disk
for `wandb sync`.
"""


@runtime_checkable
class Dashboard(Protocol):
    def start(self, page: Page) -> None: ...

    def lightning(self) -> Any: ...

    def log(self, task: str, rows: Sequence[dict]) -> None: ...

    def draw(self, files: Sequence[Path], plugins: Sequence[str] = ()) -> None: ...

    def finish(self, code: int = 0) -> None: ...


class NoDashboard:
    """Shows nothing."""

    def start(self, page: Page) -> None: ...

    def lightning(self) -> Any:
        return False

    def log(self, task: str, rows: Sequence[dict]) -> None: ...

    def draw(self, files: Sequence[Path], plugins: Sequence[str] = ()) -> None: ...

    def finish(self, code: int = 0) -> None: ...


class WandB:
    """mode: offline writes below ./wandb and needs neither key nor network; online gives up after
    `timeout` seconds and goes on offline with one warning. entity: the user or team that owns the
    project; null: the one the key belongs to.
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
        return library.wandb()

    def start(self, page: Page, resume: str | None = "allow") -> None:
        """Opens the page, or goes on with it. resume=None: what the server has of it is
        replaced.
        """
        if self.run is not None:
            return
        self._known = bool(page.trained)
        why = obstacle(self.timeout) if self.mode == "online" else None
        if why is None:
            try:
                self.run = self._init(page, resume)
            except Exception as error:  # every way in which the server can refuse ends here
                if self.mode == "offline":
                    raise
                why = reason(error)
                # wandb's service holds on to the id of a page that it could not open
                library.wandb().teardown()
        if self.run is None:
            self.mode = "offline"
            self.run = self._init(page, resume)
            print(
                f"extrap: logger.mode=online: {why}; going on offline, `wandb sync` sends the "
                "run later",
                file=sys.stderr,
            )
        for metric, axis in view.AXES.items():
            self.run.define_metric(metric, step_metric=axis)
        if page.best:
            self.run.summary.update({BEST + name: value for name, value in page.best.items()})

    def _init(self, page: Page, resume: str | None) -> Any:
        wandb = library.wandb()
        if not {"HOME", "XDG_CACHE_HOME"} & os.environ.keys():  # its service keeps logs there
            os.environ["XDG_CACHE_HOME"] = str(Path.cwd() / "wandb" / ".cache")
        patience = (
            {"init_timeout": self.timeout} if self.mode == "online" else {}
        )  # a server's; the disk has as long as it takes
        # Git is left alone, too: a .git/config in the working folder may name programs for it.
        quiet = wandb.Settings(
            silent=True,
            console="off",
            quiet=True,
            finish_timeout=UPLOAD,
            disable_git=True,
            use_dot_wandb=False,
            **patience,
        )
        if resume is None:  # a page made from rows says nothing about the machine that makes it
            quiet.x_disable_stats = quiet.x_disable_meta = True
            quiet.x_save_requirements = False
        where = {"mode": self.mode, "resume": resume, "dir": Path.cwd()}
        if "WANDB_SWEEP_ID" not in os.environ:  # an agent of W&B's own sweeps names the run itself
            where |= {"project": self.project, "entity": self.entity, "id": page.kept_id()}
        what = {
            "name": page.name,
            "group": page.study,
            "job_type": page.job_type,
            "tags": page.tags,
            "config": page.config,
        }
        return wandb.init(settings=quiet, **where, **what)

    def lightning(self) -> Any:
        from lightning.pytorch.loggers import Logger

        run, self._seen_training = self.run, True

        class ToRun(Logger):
            name, version = "wandb", run.id

            def log_metrics(self, metrics: dict[str, float], step: int | None = None) -> None:
                if (
                    step is not None and step >= run.step
                ):  # a resumed run repeats steps that the page has
                    run.log(metrics | {"train/step": step}, step=step, commit=True)

            def log_hyperparams(self, *args: Any, **kwargs: Any) -> None: ...

        return ToRun()

    def log(self, task: str, rows: Sequence[dict]) -> None:
        """Rows of one task: history, tables, summary scalars."""
        made = self.library()
        if not self._seen_training:
            for point in view.curve(rows):
                if (step := int(point["train/step"])) >= self.run.step:
                    self.run.log(point, step=step, commit=True)
        for point in (*view.by_length(task, rows), *view.by_depth(task, rows)):
            self.run.log(point)
        for name, (columns, data) in view.tables(task, rows).items():
            self.run.log({name: made.Table(columns=columns, data=data)})
        self.run.summary.update(view.summary(task, rows))
        if not self._known:
            passed = trained({task: view.passed(rows)})
            self.run.config.update(passed, allow_val_change=True)

    def table(self, name: str, columns: Sequence[str], data: Sequence[Sequence[Any]]) -> None:
        """One table, on the page of a study."""
        self.run.log({name: self.library().Table(columns=list(columns), data=list(data))})

    def draw(self, files: Sequence[Path], plugins: Sequence[str] = ()) -> None:
        """Every figure that the rows in these files serve, as an image; plugins: packages with
        figures of their own.
        """
        from extrap.results import rows

        if self.run is not None:
            frame = rows.frame(rows.records(file for file in files if file.exists()))
            self.draw_rows(frame, plugins)

    def draw_rows(self, frame: Any, plugins: Sequence[str] = ()) -> None:
        """The same for rows as extrap.results.rows has them."""
        from PIL import Image

        from extrap import figures

        made = self.library()
        for name, figure in figures.available(plugins=plugins).items():
            if (drawn := figures.render(figure, frame, kinds=("png",))) is not None:
                image = made.Image(
                    Image.open(io.BytesIO(drawn["png"])), caption=figures.caption(figure)
                )
                self.run.log({f"figure/{name}": image})

    def page(self, text: str) -> None:
        """A page of HTML as a panel, in a frame of its own."""
        self.run.log({"report": self.library().Html(text, inject=False)})

    def finish(self, code: int = 0) -> None:
        """Closes the page; the next job of this process opens its own. code: 0 unless the job
        failed.
        """
        if self.run is not None:
            self.run.finish(exit_code=code)
            self.run = None

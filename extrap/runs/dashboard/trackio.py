"""The pages of W&B in trackio: a dashboard on this machine, without an account, over SQLite files
below ./trackio or $TRACKIO_DIR; `trackio show` opens it (https://github.com/gradio-app/trackio).
"""

import io
import os
import shlex
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from extrap.runs.dashboard import WandB
from extrap.runs.dashboard.page import Page
from extrap.runs.dashboard.view import LENGTH
from extrap.utils.atomic import check_local
from extrap.utils.errors import UserError
from extrap.utils.pip import install_extra


class Trackio(WandB):
    """The same view of the rows, by the library that speaks wandb's language.

    Args:
        project: the project of all pages, the name of a file
    """

    def __init__(self, project: str = "extrap"):
        super().__init__(project)
        if Path(project).name != project:  # the file of a project has its name
            raise ValueError(f"project={project}: becomes the name of a file; leave out slashes")

    def library(self) -> Any:
        """Returns the library. Raises UserError where it is not installed."""
        if "TRACKIO_DIR" not in os.environ:
            check_local(Path("trackio"))
            os.environ["TRACKIO_DIR"] = str(Path.cwd() / "trackio")
        # gradio and the hub, on which it stands, count their users
        os.environ |= {"GRADIO_ANALYTICS_ENABLED": "False", "HF_HUB_DISABLE_TELEMETRY": "1"}
        try:
            import trackio  # type: ignore[import-not-found]
        except ImportError:
            remedy = install_extra("trackio")
            raise UserError("logger", "trackio", "needs the package trackio", remedy) from None
        return trackio

    @property
    def opens(self) -> str:
        """The command that opens the pages. trackio smooths lines and draws them by step unless the
        address says otherwise; it writes the name of the project into the address as it is.
        """
        shown = f"{self.project}&smoothing=0&x_axis={LENGTH}"
        words = ["trackio", "show", "--project", shown]
        return f"TRACKIO_DIR={shlex.quote(os.environ['TRACKIO_DIR'])} {shlex.join(words)}"

    def _init(self, page: Page, resume: str | None) -> Any:
        return Run(self.library(), self.project, page, resume)


class Run:
    """A page of trackio with the methods that a page of W&B has. Values of a summary and keys of
    the configuration that come later are a last point of the history.
    """

    def __init__(self, trackio: Any, project: str, page: Page, resume: str | None):
        self.id = page.id
        with redirect_stdout(io.StringIO()):
            if resume is None and (Path(os.environ["TRACKIO_DIR"]) / f"{project}.db").exists():
                for run in trackio.Api().runs(project):
                    if run.name == self.id:
                        run.delete()
            self._run = trackio.init(
                project, self.id, group=page.study, config=page.config, resume=resume or "never",
                embed=False, auto_log_gpu=False, auto_log_cpu=False,
            )  # fmt: skip
        self.summary = self.config = self
        self._finish = trackio.finish
        self._last: dict[str, Any] = {}

    @property
    def step(self) -> int:
        """The first step that the page does not have."""
        return int(self._run._next_step)

    def define_metric(self, *_: Any, **__: Any) -> None: ...

    def log(self, point: dict[str, Any], step: int | None = None, commit: bool = True) -> None:
        self._run.log(point, step=step)

    def update(self, values: dict[str, Any], allow_val_change: bool = True) -> None:
        self._last |= values

    def finish(self, exit_code: int = 0) -> None:
        if self._last:
            self._run.log(self._last)
        with redirect_stdout(io.StringIO()):
            self._finish()

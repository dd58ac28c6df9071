"""Training curves by Lightning's own loggers. The rows, which are the study, stay in files."""

from typing import Any, Literal

from extrap.runs.dashboard import NoDashboard
from extrap.runs.dashboard.page import Page


class Curves(NoDashboard):
    """kind: tensorboard writes what TensorBoard reads (pip install tensorboard), csv writes
    metrics.csv; both in folder/<run>/version_<n>, a new one when a run resumes.
    """

    def __init__(self, kind: Literal["tensorboard", "csv"], folder: str):
        if not folder:
            raise ValueError(f"folder={folder}: needs a name")
        self.kind, self.folder = kind, folder
        self.run = ""

    def start(self, page: Page) -> None:
        self.run = page.run

    def lightning(self) -> Any:
        from lightning.pytorch.loggers import CSVLogger, TensorBoardLogger

        logger = CSVLogger if self.kind == "csv" else TensorBoardLogger
        return logger(self.folder, name=self.run)

"""Weights & Biases is a view of the rows: written, never read. Offline unless asked, never asking anything itself.

train/<part>/<metric>                         history against the training step
eval/<task>/<protocol>/<metric>[/depth d]     history with x = eval/length; also a table, also a summary scalar per length
"""

import sys
from typing import Any, Literal, Protocol

from extrap.runs import Run

Mode = Literal["offline", "online"]


class Dashboard(Protocol):
    def start(self, run: Run, study: str, tags: list[str]) -> None: ...

    def lightning(self) -> Any: ...

    def log(self, task: str, rows: list[dict]) -> None: ...

    def finish(self) -> None: ...


class NoDashboard:
    """Shows nothing."""

    def start(self, run: Run, study: str, tags: list[str]) -> None: ...

    def lightning(self) -> bool:
        return False

    def log(self, task: str, rows: list[dict]) -> None: ...

    def finish(self) -> None: ...


class WandB:
    """One W&B run per run folder, its id the name of the folder, grouped by study.

    mode: offline writes below ./wandb and needs neither key nor network; online gives up after `timeout` seconds and goes on
    offline with one warning.
    """

    def __init__(self, project: str = "extrap", mode: Mode = "offline", timeout: int = 20):
        self.project, self.mode, self.timeout = project, mode, timeout
        self.run: Any = None

    def start(self, run: Run, study: str, tags: list[str]) -> None:
        if self.run is not None:
            return
        what = {"name": run.name, "id": run.name, "group": study, "tags": tags, "config": run.identity | {"seed": run.seed}}
        try:
            self.run = self._init(self.mode, **what)
        except Exception as error:  # every way of having no network, no key, no server ends here
            if self.mode == "offline":
                raise
            reason = str(error).splitlines()[0]
            print(f"extrap: logger.mode=online: {reason}; going on offline, `wandb sync` sends the run later", file=sys.stderr)
            self.run = self._init("offline", **what)
        self.run.define_metric("train/*", step_metric="train/step")
        self.run.define_metric("eval/*", step_metric="eval/length")

    def _init(self, mode: Mode, **what: Any) -> Any:
        import wandb

        quiet = wandb.Settings(silent=True, console="off", init_timeout=self.timeout, quiet=True)
        if mode == "online" and wandb.api.api_key is None:
            raise ConnectionError("no W&B key on this machine (`wandb login` stores one)")
        return wandb.init(project=self.project, mode=mode, job_type="run", resume="allow", settings=quiet, **what)

    def lightning(self) -> Any:
        from lightning.pytorch.loggers import Logger

        run = self.run

        class ToRun(Logger):
            name, version = "wandb", run.id

            def log_metrics(self, metrics: dict[str, float], step: int | None = None) -> None:
                run.log(metrics | {"train/step": step})

            def log_hyperparams(self, *args: Any, **kwargs: Any) -> None: ...

        return ToRun()

    def log(self, task: str, rows: list[dict]) -> None:
        """Rows of one task: history by length, a table, summary scalars."""
        import wandb

        columns = ["protocol", "length", "depth", "metric", "value", "low", "high", "n", "status"]
        rows = [row for row in rows if row.get("length") is not None]
        by_length: dict[int, dict[str, float]] = {}
        summary: dict[str, float] = {}
        for row in rows:
            depth = "" if row.get("depth") is None else f"/depth {row['depth']:g}"
            name = f"{task}/{row.get('protocol', '')}/{row['metric']}{depth}"
            by_length.setdefault(row["length"], {})[f"eval/{name}"] = row["value"]
            summary[f"{name} at {row['length']}"] = row["value"]
        self.run.summary.update(summary)
        for length in sorted(by_length):
            self.run.log(by_length[length] | {"eval/length": length})
        if rows:
            self.run.log({f"table/{task}": wandb.Table(columns=columns, data=[[row.get(c) for c in columns] for row in rows])})

    def finish(self) -> None:
        if self.run is not None:
            self.run.finish()

"""`extrap layers`: which positions are on in which layers of a model.

extrap layers model=checkpoint model.checkpoint=FOLDER
"""

from typing import Any

from extrap.cli import app as cli
from extrap.cli import help, program
from extrap.cli import schema as config
from extrap.cli.composed import Composed


class Layers:
    """The work of `extrap layers` for one model."""

    def __init__(self, job):
        self.job = job

    def finished(self) -> bool:
        return False

    def entry(self, command: str) -> None:
        return None

    def check(self) -> None:
        """Nothing to check: the model is read without its weights."""

    def run(self) -> None:
        """Prints the table."""
        import pandas as pd

        from extrap.pretrained.table import layer_table

        rows = layer_table(self.job.source.model("meta"))
        shown = [{name: _shown(value) for name, value in row.items()} for row in rows]
        print(pd.DataFrame(shown).to_string(index=False))


def _shown(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "-", True: "yes", False: "no"}[value]
    return f"{value:g}" if isinstance(value, float) else str(value)


def prepare(composed: Composed) -> Layers:
    return Layers(program.job(composed))


def main() -> None:
    config.register()
    cli.main(cli.Program(prepare, command=("extrap", "layers"), head=help.LAYERS))

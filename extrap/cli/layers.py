"""Print which positions are on in which layers of a model."""

from argparse import Namespace
from typing import Any

from extrap.cli.shared import command


@command("words conf")
def main(args: Namespace) -> str:
    import pandas as pd

    from extrap.cli.program import one_job
    from extrap.pretrained.table import layer_table

    layers = pd.DataFrame(layer_table(one_job(args).source.model("meta")), dtype=object)
    return layers.map(_shown).to_string(index=False)


def _shown(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "-", True: "yes", False: "no"}[value]
    return f"{value:g}" if isinstance(value, float) else str(value)

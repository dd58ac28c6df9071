"""`extrap-schemes`: every scheme of conf/scheme in one table, made from the YAMLs, the cards and the objects themselves."""

import argparse
import warnings
from pathlib import Path

import pandas as pd
import yaml

from extrap.runs.build import build
from extrap.model.card import card, kind, parts
from extrap.utils.paths import conf_dir
from extrap.model.scheme import Scheme, Shape

SHAPE = Shape(dim=64, heads=4, layers=2, length=64, vocab=577)
"""The default model, `model=tiny data.length=64`: parameters are counted for it."""

HOOKS = {
    "positions": "coordinates",
    "embed": "embedding",
    "rotate": "queries, keys",
    "sees": "mask",
    "temperature": "temperature",
    "score": "score",
    "distance_bias": "bias of distance",
    "bias": "bias",
    "sink": "sink",
    "mix": "weights, values",
    "attend": "attention",
}


BEGIN, END = "<!-- schemes -->", "<!-- /schemes -->"


def table(conf: str | Path) -> pd.DataFrame:
    """One row per scheme: name, kind, where it acts, models that use it, parameters, past L, source, in the order of names."""
    rows = []
    for path in sorted((Path(conf) / "scheme").glob("*.yaml"), key=lambda p: p.stem):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # advice on a scheme belongs to its training, not to this list
            scheme = build(yaml.safe_load(path.read_text(encoding="utf-8")), "scheme", shape=SHAPE)
        rows.append({"scheme": path.stem} | row(scheme))
    return pd.DataFrame(rows)


def row(scheme: Scheme) -> dict[str, str]:
    single = parts(scheme)
    cards = [card(part) for part in single]

    def told(field: str) -> str:
        """What the parts say, each once; parts that position nothing have no say in who uses it where others do."""
        said = [c[field] for c in cards if c[field] != "-" and (c["Kind"] != "none" or len(cards) == 1)]
        return "; ".join(dict.fromkeys(said)) or "-"

    return {
        "kind": kind(scheme),
        "acts at": ", ".join(word for hook, word in HOOKS.items() if scheme.uses(hook)) or "nothing",
        "used by": told("Used by") if len(single) == 1 else "-",
        "parameters": f"{sum(p.numel() for p in scheme.parameters()):,}",
        "past L": told("Past L"),
        "source": told("Source"),
    }


def markdown(frame: pd.DataFrame) -> str:
    """The table for the README."""
    lines = ["| " + " | ".join(frame.columns) + " |", "|" + " --- |" * len(frame.columns)]
    return "\n".join([*lines, *("| " + " | ".join(values) + " |" for values in frame.itertuples(index=False))]) + "\n"


def inserted(text: str, frame: pd.DataFrame) -> str:
    """A text with the table between the two marks."""
    before, after = text.index(BEGIN) + len(BEGIN), text.index(END)
    return text[:before] + "\n" + markdown(frame) + text[after:]


def main() -> None:
    parser = argparse.ArgumentParser(prog="extrap-schemes", description="List every positional scheme.")
    parser.add_argument("--readme", type=Path, help="write the table into this file, between its marks")
    path, frame = parser.parse_args().readme, table(conf_dir())
    if path is None:
        print(frame.drop(columns="source").to_string(index=False, max_colwidth=50))
    else:
        path.write_text(inserted(path.read_text(encoding="utf-8"), frame), encoding="utf-8")


if __name__ == "__main__":
    main()

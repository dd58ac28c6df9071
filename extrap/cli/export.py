"""Write a trained run as a folder that transformers reads."""

import os
import shutil
import sys
from argparse import Namespace
from collections.abc import Callable
from functools import partial
from pathlib import Path

from extrap.cli.shared import argument, command
from extrap.utils import atomic
from extrap.utils.errors import UserError

BYTES = "extrap.data.vocabulary.Vocabulary"


@command(
    "",
    argument("run", metavar="RUN", help="name of a run, a folder in runs"),
    argument("folder", metavar="FOLDER", type=Path, help="folder to create; must not exist"),
)
def main(args: Namespace) -> str:
    export(args.run, args.folder)
    return str(args.folder)


def export(name: str, folder: Path) -> None:
    """Makes the folder, whole or not at all. Raises UserError for a run that extrap did not train,
    for a run without an equal in transformers, and for a folder that exists.
    """
    check_free(folder)
    whole(folder, _read(name))


def whole(folder: Path, write: Callable[[Path], None]) -> None:
    """Makes a folder with a function, whole or not at all. Raises UserError for a folder that
    exists.
    """
    check_free(folder)
    half = atomic.draft(folder)
    try:
        write(half)
        os.rename(half, folder)
    except OSError as error:
        raise UserError("FOLDER", folder, error.strerror or error, "give another one") from None
    finally:
        shutil.rmtree(half, ignore_errors=True)


def check_free(folder: Path) -> None:
    """Raises UserError for a folder that exists, or whose place is no folder."""
    if os.path.lexists(folder):
        raise UserError("FOLDER", folder, "exists already", "give another name")
    atomic.check_way(folder)


def _read(name: str) -> Callable[[Path], None]:
    """Reads a run. Returns the function that writes it into a folder."""
    from extrap.audit.trained import trained
    from extrap.data.vocabulary import Vocabulary
    from extrap.pretrained.export import export as written
    from extrap.pretrained.export import write_tokenizer
    from extrap.runs.build import build
    from extrap.runs.folder import Named, read_json
    from extrap.runs.training.options import DTYPES, full_name

    identity = read_json(Named(name).folder / "config.json").get("identity") or {}
    for entry, what in (
        ("parent", "is a tuned run, whose extension the folder would not hold"),
        ("checkpoint", "is a published checkpoint, already in the format of transformers"),
    ):
        if entry in identity:
            raise UserError("RUN", name, what, "runs of our own training are exported")
    model = trained(name, "RUN").to(DTYPES[full_name(identity.get("precision"))])
    node = {"_target_": BYTES} | identity["data"]["vocabulary"]
    if node["_target_"] != BYTES:
        line = "the run read text with a tokenizer of its own"
        print(f"extrap export: {line}; put its tokenizer.json into the folder", file=sys.stderr)
        return partial(written, model)
    kept = {key: value for key, value in node.items() if key in ("_target_", "keys", "values")}
    vocabulary = build(kept, "data.vocabulary", kind=Vocabulary)

    def write(folder: Path) -> None:
        written(model, folder, bos_token_id=vocabulary.bos)
        write_tokenizer(vocabulary, model.scheme.shape.length, folder)

    return write

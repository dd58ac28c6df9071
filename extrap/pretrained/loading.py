"""The one door to the loaders of transformers: they see files of data and no other file.

A loader reads whatever it finds in a folder: configurations that name modules, modules, adapters
that name other models, code of a generation. `load` hands over a folder in which these do not
exist. A test rejects every other call of a loader (tests/contracts/test_loaders.py).
"""

import os
import weakref
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any


def load(kind: Any, data: Iterable[Path], **given: Any) -> Any:
    """Returns what `kind.from_pretrained` makes of these files, in a folder of links to them.

    Args:
        kind: a class of transformers
        data: files of JSON, of safetensors or a GGUF
        given: further options of the loader; with `device_map` the links last as long as the model,
            which reads weights again from the disk

    Runs no code of a checkpoint, asks no question and fetches nothing.
    """
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(prefix="extrap-"))
        for file in data:
            os.symlink(file.absolute(), Path(folder, file.name))
        if given.get("device_map") is not None:
            given["offload_folder"] = str(Path(folder, "offload"))
        made = kind.from_pretrained(folder, trust_remote_code=False, local_files_only=True, **given)
        if given.get("device_map") is not None:
            weakref.finalize(made[0], stack.pop_all().close)
        return made

"""Code in the disguise of data, planted into the files that extrap reads. It makes a folder."""

import os
import pickle
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import torch


class Code:
    """What makes a folder when a pickle of it is read."""

    def __init__(self, canary: Path) -> None:
        self.canary = canary

    def __reduce__(self) -> tuple:
        return os.mkdir, (str(self.canary),)


def plain(code: Code) -> bytes:
    return pickle.dumps(code)


def saved(code: Code) -> bytes:
    torch.save({"state_dict": {}, "hyper_parameters": code}, out := BytesIO())
    return out.getvalue()


def zipped(code: Code) -> bytes:
    """Under the names of torch's own archive, with the checksums of what is in it."""
    with zipfile.ZipFile(out := BytesIO(), "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps({"wte.weight": code}, protocol=2))
        archive.writestr("archive/version", "3\n")
        archive.writestr("archive/byteorder", "little")
    return out.getvalue()


PICKLES: list[Callable[[Code], bytes]] = [plain, saved, zipped]


def words(canary: Path) -> list[str]:
    """The same as text, in the languages of configuration files, spreadsheets and templates."""
    return [
        f"${{oc.env:HOME}}${{oc.create:{{_target_: os.mkdir, path: {canary}}}}}",
        f'!!python/object/apply:os.mkdir ["{canary}"]',
        f"=cmd|'/C mkdir {canary}'!A0",
        f"__import__('os').mkdir('{canary}')",
        f"$(mkdir {canary})`mkdir {canary}`",
        r"$\input{/etc/passwd}\undefined$",
        f"{{{{ cycler.__init__.__globals__.os.mkdir('{canary}') }}}}",
    ]


def node(canary: Path) -> dict:
    """As a node that Hydra would instantiate."""
    return {"_target_": "os.mkdir", "path": str(canary), "_args_": [str(canary)]}


def yaml(canary: Path) -> str:
    return (
        f"_target_: os.mkdir\npath: {canary}\nrun: !!python/object/apply:os.mkdir ['{canary}']\n"
        "home: ${oc.env:HOME}\n"
    )


def module(canary: Path) -> str:
    return f"import os\nos.mkdir({str(canary)!r})\n"

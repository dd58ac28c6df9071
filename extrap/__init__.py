"""extrap: any positional scheme, trained short, tested long, compared fairly.

    rows = extrap.evaluate(model, tokenizer=tokenizer)     # extrap/api.py
    extrap.plot(rows, "kv_depth")

The functions of a notebook and the classes of a plug-in are imported at their first use; `import
extrap` alone stays light.
"""

from importlib import import_module
from importlib.metadata import version
from typing import Any

from extrap.utils.matplotlibrc import leave_out

_MODULES = {
    "extrap.api": ("TrainedRun", "compare", "evaluate", "judge", "plot", "rows", "train"),
    "extrap.extensions.base": ("Extension", "SchemeExtension"),
    "extrap.model.scheme": ("Scheme", "Shape", "Where"),
    "extrap.model.stack": ("Stack",),
    "extrap.tasks.base": ("AtLengths", "Model", "Progress", "Result", "Setting", "Task"),
    "extrap.tasks.scoring.answers": ("hits",),
    "extrap.tasks.scoring.recorder": ("Recorder",),
    "extrap.utils.bounds": ("Count", "Multiples"),
}

__all__ = [
    "AtLengths",
    "Count",
    "Extension",
    "Model",
    "Multiples",
    "Progress",
    "Recorder",
    "Result",
    "Scheme",
    "SchemeExtension",
    "Setting",
    "Shape",
    "Stack",
    "Task",
    "Where",
    "hits",
]


leave_out()  # before anything imports matplotlib


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return version("extrap")
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module 'extrap' has no attribute '{name}'")

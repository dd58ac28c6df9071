"""Figures that differ in their data alone, by name."""

from collections.abc import Callable
from types import SimpleNamespace


class Table(dict[str, SimpleNamespace]):
    """{name: figure}, each with the names that the module of a figure has.

    Args:
        module: of the table
    """

    def __init__(self, module: str):
        super().__init__()
        self.module = module

    def add(
        self, name: str, caption: str, needs: dict, form: Callable, *words, make="", own=(), **more
    ) -> None:
        """Adds a figure. form(rows, needs, *words, **more) draws it.

        Args:
            make: MAKE of the figure
            own: its other names, as a module has them
        """
        named = {"__name__": f"{self.module}.{name}", "__doc__": caption, "NEEDS": needs}
        self[name] = SimpleNamespace(
            **named, MAKE=make, draw=lambda rows: form(rows, needs, *words, **more), **dict(own)
        )

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
        self, name: str, caption: str, needs: dict, form: Callable, *, make="", own=(), **options
    ) -> None:
        """Adds a figure. form(rows, needs, **options) draws it.

        Args:
            make: MAKE of the figure
            own: its other names, as a module has them
        """

        def draw(rows):
            return form(rows, needs, **options)

        named = {"__name__": f"{self.module}.{name}", "__doc__": caption}
        self[name] = SimpleNamespace(**named, NEEDS=needs, MAKE=make, draw=draw, **dict(own))

"""The page that a figure is drawn for: its width and height, its font, and what it leaves to the
caption.

Sizes of templates: acl.sty of acl-org (A4, margins of 2.5 cm, columns .6 cm apart), icml2025.sty
(6.75 in, columns .25 in apart), neurips_2024.sty (one column of 5.5 in); their fonts are Times.
"""

from typing import NamedTuple

from extrap.utils.errors import UserError, choose

SIZE = 8.0
"""Points of the names of axes in a figure of the house; all other sizes follow."""
FAMILIES = {"sans": "DejaVu Sans", "serif": "DejaVu Serif", "times": "STIXGeneral"}
"""Fonts that come with Matplotlib, so that every machine draws the same; STIX looks like Times."""
LEGENDS = ("n", "se")


class Paper(NamedTuple):
    """A page.

    Args:
        width, height: inches that a figure has at most; None: its natural width, the height of a
            page
        size: points of the names of axes, everything else in proportion
        family: of FAMILIES
        bare: no title and no note, which the caption has
        legend: of LEGENDS, behind each name
        panels: a file for each panel
    """

    width: float | None = None
    height: float | None = None
    size: float = SIZE
    family: str = "sans"
    bare: bool = False
    legend: tuple[str, ...] = ()
    panels: bool = False

    @property
    def scale(self) -> float:
        """By what a figure of the house grows when it is written."""
        return self.size / SIZE


HOUSE = Paper()
"""The page of results/: the natural width, up to that of a page."""
CM = 1 / 2.54
CAPTION = 1.7
"""Inches of the height of a page that are left to the caption."""
PAPERS = {
    "acl": Paper(7.7 * CM, 24.7 * CM - CAPTION, 9, "times"),
    "acl-wide": Paper(16 * CM, 24.7 * CM - CAPTION, 9, "times"),
    "icml": Paper(3.25, 9.0 - CAPTION, 8, "times"),
    "icml-wide": Paper(6.75, 9.0 - CAPTION, 8, "times"),
    "neurips": Paper(5.5, 9.0 - CAPTION, 9, "times"),
    "single": Paper(3.3, 9.0 - CAPTION, 8),
    "double": Paper(6.8, 9.0 - CAPTION, 8),
}
"""Pages by name; sizes of text are those of \\footnotesize in the template."""
COLUMN = "single"
"""The page of `extrap judge`, unless another is asked for."""


def page(name: str) -> Paper:
    """Returns a page by name. Raises UserError for an unknown one."""
    if name not in PAPERS:
        raise UserError("--paper", name, "no such page", choose(name, PAPERS))
    return PAPERS[name]


def font(text: str) -> dict:
    """Returns the fields of `Paper` that a font of words sets, `9`, `times` or `times 9`. Raises
    UserError for another font or a size outside 5 to 20 points.
    """
    fields: dict = {}
    for word in text.split():
        if word in FAMILIES:
            fields["family"] = word
            continue
        try:
            size = float(word)
        except ValueError:
            size = 0.0
        if not 5 <= size <= 20:
            fonts = ", ".join(FAMILIES)
            remedy = f"give 5 to 20 points, one of {fonts}, or both, such as 'times 9'"
            raise UserError("--font", text, "no such font", remedy)
        fields["size"] = size
    return fields

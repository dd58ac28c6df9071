"""The arguments with which `extrap plot` and `extrap table` choose series, name and order them."""

import re

from extrap.cli.shared import argument
from extrap.utils.errors import UserError

OPTION = r"[\w.]+="
"""What stands behind a comma inside the name of an extension: `rerope,width=16`."""


def words(names: str) -> tuple[str, ...]:
    """Returns names with commas between as a tuple."""
    return tuple(re.split(rf",(?!{OPTION})", names))


def multiples(lengths: str) -> tuple[float, ...]:
    """Returns multiples of the training length, of `4` or `1,4,8`. Raises UserError for text."""
    try:
        return tuple(map(float, words(lengths)))
    except ValueError:
        problem = "expected multiples of the training length"
        raise UserError("--lengths", lengths, problem, "give numbers, such as 4 or 1,4,8") from None


def renamed(text: str) -> tuple[str, str]:
    """Returns (name, label) of `name=label`. Raises UserError for other text."""
    found = re.fullmatch(rf"([^=]+?(?:,{OPTION}[^=,]+)*)=(.*\S.*)", text, re.DOTALL)
    if found is None:
        raise UserError("--label", text, "expected NAME=LABEL", "give a label, such as mine=Ours")
    return found[1], found[2]


SERIES = "these alone, such as rope,alibi+yarn: schemes, or series as extrap table has them"
PROTOCOLS = "these protocols alone, such as records; commas between"
LENGTHS = "these evaluation lengths alone, in training lengths, such as 4 or 1,4,8"
LABEL = "what a scheme or an extension is called, such as mine=Ours; several times"
ORDER = "these series first and in this order, such as mine,rope"
CHOICES = (
    argument("--series", type=words, default=(), metavar="NAMES", help=SERIES),
    argument("--protocol", type=words, default=(), metavar="NAMES", help=PROTOCOLS),
    argument("--lengths", type=multiples, default=(), metavar="MULTIPLES", help=LENGTHS),
    argument("--label", type=renamed, action="append", default=[], metavar="X=Y", help=LABEL),
    argument("--order", type=words, default=(), metavar="NAMES", help=ORDER),
)

"""The arguments with which `extrap plot` and `extrap table` choose series, name and order them."""

from extrap.cli.shared import argument
from extrap.utils.errors import UserError


def words(names: str) -> tuple[str, ...]:
    """Returns names with commas between as a tuple."""
    return tuple(names.split(","))


def multiples(lengths: str) -> tuple[float, ...]:
    """Returns multiples of the training length, of `4` or `1,4,8`. Raises UserError for text."""
    try:
        return tuple(map(float, words(lengths)))
    except ValueError:
        problem = "expected multiples of the training length"
        raise UserError("--lengths", lengths, problem, "give numbers, such as 4 or 1,4,8") from None


def renamed(text: str) -> tuple[str, str]:
    """Returns (name, label) of `name=label`. Raises UserError for other text."""
    name, equals, label = text.partition("=")
    if not (name and equals and label.strip()):
        raise UserError("--label", text, "expected NAME=LABEL", "give a label, such as mine=Ours")
    return name, label


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

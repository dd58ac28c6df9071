"""The costs of a study as a table: `extrap table mine --cost`."""

from extrap.cli.columns import aligned
from extrap.cli.shared import plain
from extrap.runs.cost import Cost, costs, days, total
from extrap.utils.errors import UserError
from extrap.utils.progress import clock

COLUMNS = ("ended", "wall", "processor", "GPU", "memory", "tokens/s", "of peak")


def found(study: str) -> dict[str, Cost]:
    """Returns the costs of a study. Raises UserError without any."""
    if not (known := costs(study)):
        problem = "no run folder here says what it cost"
        raise UserError("--cost", problem=problem, remedy="runs record it as they end")
    return known


def values(study: str) -> dict:
    """Returns the costs as plain values: {study, cost: {run: {name: number}}, total: {...}}."""
    known = found(study)
    each = {name: cost.plain() for name, cost in known.items()}
    return plain({"study": study, "cost": each, "total": total(known.values()).plain()})


def text(study: str) -> str:
    """Returns a line for each training and for the evaluations of each extension, and their sum."""
    title = f"Study {study}: cost of its runs here, and of their evaluations (run + extension)"
    return "\n".join([title, *aligned([["", *COLUMNS], *lines(study)])])


def lines(study: str) -> list[list[str]]:
    """Returns the cells of `text`: a name and a cell for each of COLUMNS."""
    known, ended = found(study), days(study)
    each = [[name, ended.get(name, ""), *_cells(cost)] for name, cost in known.items()]
    return [*each, ["all", "", *_cells(total(known.values()))[:4], "", ""]]


def _cells(cost: Cost) -> list[str]:
    rate, share = cost.tokens_per_second, cost.share_of_peak
    return [
        clock(cost.seconds),
        clock(cost.processor_seconds),
        clock(cost.device_seconds) if cost.device_seconds else "",
        f"{cost.memory / 1e9:.2f} GB" if cost.memory else "",
        "" if rate is None else f"{rate:,.0f}",
        "" if share is None else f"{share:.0%}",
    ]

"""The check of what the `run` of a task returned."""

import warnings
from collections.abc import Callable
from typing import Any

from extrap.results.schema import check_measured
from extrap.tasks.base import Result
from extrap.utils.errors import UserError
from extrap.utils.plugins import defined_at


def checked(result: Any, task: str, run: Callable[..., Any] = Result) -> Result:
    """Returns the result of a task with a status in every row. Raises UserError, naming the task
    and its `run`, for anything but a Result and for the first row that the results schema cannot
    hold.
    """
    option = f"task.{task}"
    at = defined_at(run)
    if not isinstance(result, Result):
        problem = f"run{at} returned {type(result).__name__}"
        raise UserError(option, problem=problem, remedy="return Result(rows)")
    try:
        rows = [{"status": "ok"} | row for row in result.rows]
        check_measured(rows)
    except (TypeError, ValueError) as error:
        remedy = f"correct the rows that run{at} returns"
        raise UserError(option, problem=error, remedy=remedy) from None
    if not rows:
        line = f"{option}: no rows; run recorded none, or the model refuses every length"
        warnings.warn(line, UserWarning, stacklevel=2)
    return Result(rows, result.items)

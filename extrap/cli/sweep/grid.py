"""The node `sweep` of a configuration: what an experiment file sweeps over, as plain data.

    sweep:
      grid: {scheme: [rope, alibi], seed: [0, 1, 2]}
      jobs: 2

`grid` maps each option to its values; one value may stand alone. A value that is itself a list
stands in a list: `task: [[nll, kv]]`. `{glob: "*", exclude: [nope]}` takes every choice of a group.
A list of grids is one sweep, one grid after the other. The command line overrides any option of a
grid. Without a grid the program runs one job.

Runs and evaluations never see this node: `extrap.cli.program.job` takes it out.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from hydra.core.override_parser.types import Override
from omegaconf import DictConfig, OmegaConf

from extrap.cli.words import as_text
from extrap.utils.errors import UserError

COMMAND_LINE_ONLY = ("hydra", "plugins", "logger.mode", "logger.entity", "logger.folder")
COMMAND_LINE_ONLY += ("model.url",)
"""Options that no file sets: Hydra, foreign code, the upload of runs, its account, where a
logger writes, and the engine that gets prompts.
"""

NAMES = ("study", "label")
"""Options whose text YAML may read as a number: 2024_11_25 as 20241125, 1e3 as 1000.0."""

OPTION = re.compile(r"[\w-]+([./][\w-]+)*(@[\w.-]+)?", re.ASCII)
MOST = 100_000
"""Jobs of a sweep: a slip as in seed=range(0,1000000000) would fill the memory."""
SCALAR = (str, int, float, bool, type(None))


@dataclass
class Sweep:
    """The node `sweep` of a configuration.

    Args:
        grid: one grid or several
        jobs: jobs side by side on this machine; null: cores // threads
    """

    grid: Any = None
    jobs: int | None = None


def selected(config: DictConfig, name: str) -> Any:
    """Returns an option of the node `sweep` as plain data; None in a program without the node."""
    value = OmegaConf.select(config, f"sweep.{name}")
    return OmegaConf.to_container(value) if OmegaConf.is_config(value) else value


def overrides(grid: Any) -> list[list[str]]:
    """Returns the overrides of each grid, as Hydra reads them. Raises UserError for a grid that is
    no plain data and for an option that only the command line may set.
    """
    found = []
    for one in grid if isinstance(grid, list) and grid else [grid or {}]:
        if not isinstance(one, dict):
            example = "{scheme: [rope, alibi], seed: [0, 1]}"
            problem = "must map options to lists of values"
            raise UserError(f"sweep.grid={one}: {problem}, as in {example}")
        found.append([f"{option}={_values(option, values)}" for option, values in one.items()])
    return found


def check_name(option: str, value: Any) -> None:
    """Raises UserError for a number in place of a name."""
    if type(value) in (int, float):
        problem = "YAML reads a number here, perhaps of another spelling"
        raise UserError(option, value, problem, "write it in quotes")


def _values(option: Any, values: Any) -> str:
    if not isinstance(option, str) or not OPTION.fullmatch(option):
        raise UserError(f"sweep.grid: {option}: not an option of the configuration; name one")
    dotted = option.replace("/", ".").partition("@")[0]
    if any(f"{dotted}.".startswith(f"{alone}.") for alone in (*COMMAND_LINE_ONLY, "sweep")):
        raise UserError(
            f"sweep.grid: {option}: no file sets this option; give it on the command line"
        )
    if isinstance(values, dict):
        return _glob(option, values)
    listed = values if isinstance(values, list) else [values]
    if not listed:
        raise UserError(f"sweep.grid: {option}: has no values; list one or more")
    for value in listed if option in NAMES else ():
        check_name(f"sweep.grid: {option}", value)
    return ",".join(_value(option, value) for value in listed)


def _glob(option: str, pattern: dict) -> str:
    left_out = pattern.get("exclude", [])
    names = [pattern.get("glob"), *(left_out if isinstance(left_out, list) else [None])]
    if pattern.keys() - {"glob", "exclude"} or not all(isinstance(name, str) for name in names):
        raise UserError(
            f"sweep.grid: {option}: expected a list of values or {{glob: PATTERN, exclude: [NAME]}}"
        )
    first, *others = (_value(option, name) for name in names)
    return f"glob({first},exclude=[{','.join(others)}])" if others else f"glob({first})"


def _value(option: str, value: Any) -> str:
    if isinstance(value, list):
        return f"[{','.join(_value(option, one) for one in value)}]"
    if not isinstance(value, SCALAR) or (isinstance(value, float) and not math.isfinite(value)):
        raise UserError(f"sweep.grid: {option}: {value} is no plain value; write text or a number")
    if isinstance(value, str):
        if "${" in value:
            raise UserError(f"sweep.grid: {option}: {value}: a grid holds values, no references")
        return as_text(value)
    return "null" if value is None else str(value).lower()


def chosen(grids: Sequence[Sequence[Override]], typed: Sequence[Override]) -> list[list[str]]:
    """Returns the words of each grid behind which typed words take effect, with the typed words.

    An option that several grids set divides their jobs: NoPE has three layers where other schemes
    have two. Its typed values go to the grids that hold them, and a value that no grid holds to all
    of them if all set the option alike. Raises UserError for another such value: which grid would
    it mean? A grid that gets no value makes no job.
    """
    found = [[*map(_word, grid), *map(_word, typed)] for grid in grids]
    for one in typed:
        option = one.get_key_element()
        read = [_values_of(grid, option) for grid in grids]
        held = [values for values in read if values is not None]
        if one.is_delete() or len(grids) < 2 or len(held) < len(grids):
            continue
        own, known = _plain_values(one), set().union(*held)
        alike = all(values & held[0] for values in held)
        if strange := [] if alike else [value for value in own if value not in known]:
            raise _meets_several(grids, option, strange[0])
        for n, values in enumerate(held):
            kept = [v for v in own if v in values or v not in known]
            if found[n] and kept != own:
                found[n] = [*found[n], f"{option}={','.join(kept)}"] if kept else []
    return [words for words in found if words]


def _meets_several(grids: Sequence[Sequence[Override]], option: str, value: str) -> UserError:
    """Returns the error about a value of an option by which grids differ, with two ways out."""
    plain = list(map(_words_by_option, grids))
    names = [name for name in dict.fromkeys(chain(*plain)) if name != option]
    apart = [name for name in names if _differs(plain, name)]
    differ = f", which differ in {', '.join(apart)}" if apart else ""
    problem = f"in none of the {len(grids)} grids of this experiment{differ}"
    alone = f"`-m {option}={value} sweep.grid=null` runs it without them"
    remedy = f"{alone}, `extrap judge` beside the reference study" * (option == "scheme")
    own = "an experiment of your own gives it a grid"
    return UserError(option, value, problem, f"{remedy or alone}, or {own}")


def _differs(grids: Sequence[dict[str, str]], option: str) -> bool:
    return len({grid.get(option) for grid in grids}) > 1


def _words_by_option(grid: Sequence[Override]) -> dict[str, str]:
    return {one.get_key_element(): _word(one) for one in grid}


def _word(one: Override) -> str:
    return str(one.input_line)


def _values_of(grid: Sequence[Override], option: str) -> set[str] | None:
    """Returns the values of an option in a grid, None if the grid does not set it."""
    found = [one for one in grid if one.get_key_element() == option]
    return set(_plain_values(found[-1])) if found else None


def _plain_values(one: Override) -> list[str]:
    if one.is_discrete_sweep():
        return list(islice(one.sweep_string_iterator(), MOST))
    return [] if one.is_sweep_override() else [one.get_value_element_as_str()]

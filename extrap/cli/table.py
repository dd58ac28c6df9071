"""Print the perplexities, retrieval accuracies and gates of a study."""

from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from extrap.cli import spent, typeset
from extrap.cli.columns import aligned
from extrap.cli.part import CHOICES
from extrap.cli.shared import argument, as_json, command, need_studies, plain, say_hidden
from extrap.figures.drawing.axes import note
from extrap.figures.drawing.naming import Naming
from extrap.figures.drawing.part import Chosen
from extrap.figures.report.text import number
from extrap.results import methods as extensions
from extrap.results.cells import cells
from extrap.results.effective import SHARE, Effective
from extrap.results.in_force import KEY, in_force, share_words
from extrap.results.places import place
from extrap.results.published import LENGTHS, USUAL, published
from extrap.results.ranking import Score, worst_readings
from extrap.results.series import select, settings, steps, whole
from extrap.results.summary import (
    ACCURACIES,
    FAR,
    PARTS,
    PROTOCOLS,
    by_place,
    gates,
    reach,
    summary,
)
from extrap.results.together import together
from extrap.runs.folder import Named
from extrap.runs.layout import SAFE
from extrap.utils.errors import UserError

TITLES = {
    "nonoverlap": "non-overlapping", "last_segment": "last segment",
    "mean": "records: mean", "middle": "depth .5", "ends": "ends", "padded": "padded",
}  # fmt: skip

EFFECTIVE = (
    f"Effective length in tokens, up to which {100 * SHARE:.0f} % of the score at 1x is kept, with "
    "its 95 % interval"
)
FREQUENCIES = (
    "Frequencies in force beside the trained ones: pairs that turn otherwise, the slowest over its "
    "own as trained"
)
GATES = (
    "Gates of other tasks: accuracy within the training length; seeds that reach 90 %, where not "
    "all do"
)
PLACES = "Accuracy by place of what is asked for, first to last, by number of records or documents"

WIDTH = 120
"""Characters of a line, beyond which a table goes on in another block."""


RECIPE = ("train.", "data.", "model.", "precision")
"""Beginnings of the options of a recipe."""
SHOWN = 3
"""Schemes that a line names."""

FORMS = {
    "--latex": "print scores with intervals as a table of LaTeX (booktabs)",
    "--markdown": "print them as a table of Markdown",
    "--csv": "print them as CSV, a line for each score",
    "--worst": "print the worst seed and the worst depth of each score",
}

SCORES = ("--protocol", "--lengths")
"""Choices among the scores of FORMS; the plain table and --json have columns of their own."""

COST = argument("--cost", action="store_true", help="what training and evaluation of each run cost")


@command(
    "studies results json",
    COST,
    *(argument(flag, action="store_true", help=says) for flag, says in FORMS.items()),
    *CHOICES,
)
def main(args: Namespace) -> str:
    if args.cost:
        _alone(args, "--cost", [*FORMS, *SCORES, "--series", "--label", "--order"])
        first, *others = need_studies(args)
        if others:
            raise UserError("--cost", problem="of one study", remedy=f"give {first} alone")
        return as_json(spent.values(first)) if args.json else spent.text(first)
    part = Chosen(args.series, args.protocol, args.lengths)
    naming = Naming(dict(args.label), args.order)
    studies = need_studies(args)
    rows = part.of_study(together(args.results, studies))
    say_hidden("extrap table", [place(args.results, name) for name in studies])
    naming.check(rows)
    asked = [flag for flag in (*FORMS, "--json") if getattr(args, flag[2:])]
    if len(asked) > 1:
        raise UserError(asked[1], problem=f"not together with {asked[0]}", remedy="choose one")
    if asked in ([], ["--json"]):
        for flag in SCORES:
            if getattr(args, flag[2:]):
                forms = ", ".join(FORMS)
                raise UserError(flag, problem=f"chooses scores of {forms}", remedy="give one")
    with naming.in_force():
        if args.json:
            return as_json(values(naming.of(rows)))
        if not asked:
            return text(naming.of(rows))
        if args.worst:
            return worst(naming.of(part.of_cells(rows)), part)
        table = published(naming.of(part.of_cells(rows)), not args.protocol, not args.lengths)
    if not table.columns:
        raise _without_scores(part.of_cells(rows), part)
    caption = note(naming.of(rows)).replace(" · ", "; ")
    made = {"--latex": typeset.as_latex, "--markdown": typeset.as_markdown}
    return made[asked[0]](table, caption) if asked[0] in made else typeset.as_csv(table)


def _alone(args: Namespace, flag: str, others: Sequence[str]) -> None:
    """Raises UserError if one of the others is given as well."""
    for other in others:
        if getattr(args, other[2:]):
            raise UserError(other, problem=f"not together with {flag}", remedy="leave it out")


def values(rows: pd.DataFrame) -> dict:
    """Returns the table as plain values, unrounded, null for an empty cell: {study,
    train_lengths, series: {label: {column: value}}, effective: {label: {task and protocol: {tokens,
    low, high, least}}}, gates and places: {task and protocol: {label: text}}, in_force: [{scheme,
    data, extension, factor, pairs, changed, fastest, slowest, layers}]}.
    """
    return {
        "study": sorted(rows["study"].unique()),
        "train_lengths": sorted(int(n) for n in rows["train_length"].unique()),
        "series": plain(summary(rows).to_dict("index")),
        "effective": plain(reach(rows).to_dict("index")),
        "gates": gates(rows).to_dict("index"),
        "places": by_place(rows).to_dict("index"),
        "in_force": plain(in_force(rows).reset_index().to_dict("records")),
    }


def worst(rows: pd.DataFrame, part: Chosen) -> str:
    """Returns an aligned table of the worst seed and the worst depth of every score. `part` chooses
    protocols and lengths; without a choice they are the usual ones. A loss is a perplexity.
    """
    found = whole(rows)
    known = cells(rows)[["task", "protocol", "metric"]].drop_duplicates()
    lines = [["series", "score", "at", "mean", "worst seed", "", "worst depth", ""]]
    for task, protocol, metric in known.sort_values(["task", "protocol"]).itertuples(index=False):
        if not part.protocols and (task, protocol) not in USUAL:
            continue
        of = Score(task, protocol, metric)
        for (i, multiple), one in sorted(worst_readings(found, of).items()):
            if not part.lengths and multiple not in LENGTHS:
                continue
            seed = f"seed {one.seed}"
            depth = "" if np.isnan(one.depth) else f"depth {one.depth:g}"
            readings = [number(one.mean), number(one.of_seed), seed, number(one.at_depth), depth]
            lines.append([found[i].label, f"{task} {protocol}", f"{multiple:g}x", *readings])
    if len(lines) == 1:
        raise _without_scores(rows, part)
    return "\n".join(aligned(lines, (0, 1, 5, 7)))


def _without_scores(rows: pd.DataFrame, part: Chosen) -> UserError:
    """Returns the error about rows without a score that is asked for."""
    found = cells(rows)
    there = {*zip(found["task"], found["protocol"], strict=True)}
    if part.protocols or not there or not there.isdisjoint(USUAL):
        study = ", ".join(sorted(rows["study"].unique()))
        return UserError("STUDY", study, "no scores at these lengths", "choose others")
    usual = " and ".join(map(" ".join, USUAL))
    names = ", ".join(sorted({protocol for _, protocol in there}))
    return UserError("--protocol", problem=f"no scores of {usual}", remedy=f"choose of {names}")


def text(rows: pd.DataFrame) -> str:
    """Returns the summary as aligned tables of at most about 120 columns, without empty ones."""
    length = ", ".join(str(n) for n in sorted(rows["train_length"].unique()))
    study = ", ".join(sorted(rows["study"].unique()))
    uneven = f"; runs {these}" if (these := steps(rows)) else ""
    title = f"Study {study}, trained at L = {length} tokens; 1x = L{uneven}"
    more = (
        (EFFECTIVE, "series", reach(rows).map(_effective)),
        (FREQUENCIES, "series", _in_force(rows)),
        (GATES, "task", gates(rows[rows["task"] != "kv"])),
        (PLACES, "task", by_place(rows)),
    )
    apart = differences(rows)
    sections = [[title, *apart], *_scores(rows)]
    for says, corner, table in more:
        if len(table):
            shown = table.rename_axis(columns=corner).to_string(line_width=WIDTH)
            sections.append([says, shown])
    return "\n\n".join("\n".join(section) for section in sections)


def differences(rows: pd.DataFrame) -> list[str]:
    """Returns a line for each hash in the names of series: the options in which its run differs
    from the others of its name; and one for each option of the recipe in which schemes differ, as
    far as run folders here tell.
    """
    hashes, lines = settings(rows), []
    by_data: dict[str, dict[str, list[dict[str, object]]]] = {}
    for (scheme, data), part in rows.assign(settings=hashes).groupby(["scheme", "data"]):
        runs = part.drop_duplicates("settings").set_index("settings")["run"]
        safe = [(name, run) for name, run in runs.items() if SAFE.fullmatch(run)]
        known = {name: _flat(Named(run).identity) for name, run in safe}
        known = {name: options for name, options in known.items() if options}
        if known:
            by_data.setdefault(str(data), {})[str(scheme)] = [*known.values()]
        if len(known) < 2:
            continue
        apart = _differing(list(known.values()))
        for name, own in known.items():
            said = ", ".join(f"{option}={own.get(option)}" for option in apart)
            lines.append(f"{scheme} [{name}]: {said}")
    return [*lines, *chain.from_iterable(map(_recipes, by_data.values()))]


def _recipes(models: dict[str, list[dict[str, object]]]) -> Iterator[str]:
    """Yields a line for each option of model, data and training whose values differ between
    schemes: `recipes differ: train.lr 0.001 (t5), 0.003 (alibi, rope)`. models: by scheme.
    """
    for option in _differing([*chain.from_iterable(models.values())]):
        if not option.startswith(RECIPE):
            continue
        values = {}
        for name, of_scheme in models.items():
            values[name] = {str(own.get(option)) for own in of_scheme}
        if len({*map(frozenset, values.values())}) == 1:
            continue  # each scheme was trained under all of them
        said = []
        for value in sorted({*chain.from_iterable(values.values())}):
            names = [name for name, known in values.items() if value in known]
            more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
            said.append(f"{value} ({', '.join(names[:SHOWN])}{more})")
        yield f"recipes differ: {option} {', '.join(said)}"


def _differing(runs: list[dict[str, object]]) -> list[str]:
    """Returns the options that are not the same in all runs."""
    found = []
    for option in sorted(set(chain.from_iterable(runs))):
        values = {str(own.get(option)) for own in runs}
        if len(values) > 1:
            found.append(option)
    return found


def _flat(options: dict, path: str = "") -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in options.items():
        inner = isinstance(value, dict)
        found |= _flat(value, f"{path}{name}.") if inner else {f"{path}{name}": value}
    return found


def _scores(rows: pd.DataFrame) -> Iterator[list[str]]:
    """Yields losses, then accuracies of retrieval."""
    table = summary(rows)
    losses = ("training loss", [(f"trained {part}", part, _loss) for part in PARTS])
    perplexities = [_by_length(protocol, FAR, _perplexity) for protocol in PROTOCOLS]
    measured = chain.from_iterable(members for _, members in (losses, *perplexities))
    columns = [key for key, _, _ in measured]
    if table[columns].notna().any(axis=None):
        title = "Loss at the end of training in nats per token; perplexity per token"
        yield [title, *_lines(table, [("", [("seeds", "seeds", _whole)]), losses, *perplexities])]
    if (table["verdict"] != "").any():
        accuracies = [_by_length(what, far, _accuracy) for what, far in ACCURACIES.items()]
        steps = ("steps", [("steps_to_90", "to 90 %", _whole)])
        chance = select(rows, task="kv", metric="chance")["value"].max()
        by_chance = f" (chance {chance:.3f})" if not np.isnan(chance) else ""
        title = f"Retrieval accuracy{by_chance}; gate: mean at 1x, 90 %"
        yield [title, *_lines(table, [steps, *accuracies, ("", [("verdict", "verdict", str)])])]


Group = tuple[str, list[tuple[str, str, Callable[[Any], str]]]]
"""A title, and columns: the name in the summary, the header, and how a value is written."""


def _by_length(name: str, multiples: Sequence[int], form: Callable[[Any], str]) -> Group:
    """Returns the columns of a score, one for each multiple of the training length."""
    return TITLES[name], [(f"{name} {m}x", f"{m}x", form) for m in multiples]


def _lines(table: pd.DataFrame, groups: Sequence[Group]) -> list[str]:
    """Returns titles of groups of columns, headers, one line per series."""
    blocks, left = [["", "series", *table.index]], [0]
    for title, members in groups:
        columns = [[header, *map(form, table[key])] for key, header, form in members]
        words = members[0][-1] is str  # a column of words begins at the left
        if words:
            left.append(len(blocks))
        lines = [*zip(*columns, strict=True)]
        blocks.append([title, *aligned(lines, [0] if words else [], gap=" ")])
    return aligned([*zip(*blocks, strict=True)], left)


def _in_force(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns the methods that figures compare; --json has all of them."""
    logged = rows[rows["task"] == "used"]
    if logged.empty:
        return pd.DataFrame()
    found = (
        in_force(extensions.compared(extensions.methods(logged)))
        .reset_index()
        .drop_duplicates(["scheme", *KEY[2:]])
    )
    names = [
        f"{one.scheme} + {one.extension}" + (f" x{one.factor:g}" if one.factor != 1 else "")
        for one in found.itertuples()
    ]
    return pd.DataFrame(
        {
            "pairs": [f"{n} of {m}" for n, m in zip(found["changed"], found["pairs"], strict=True)],
            "slowest": [*map(share_words, found["slowest"])],
            "layers": [one.layers or ("all" if one.changed else "-") for one in found.itertuples()],
        },
        index=names,
    )


def _number(value: float, form: str) -> str:
    return "-" if np.isnan(value) else f"{value:{form}}"


_loss, _whole = (partial(_number, form=form) for form in (".2f", ".0f"))


def _perplexity(value: float) -> str:
    return _number(value, ".1f" if value < 100 else ".0f")


def _accuracy(value: float) -> str:
    return _loss(value).lstrip("0")


def _effective(length: Effective) -> str:
    if np.isnan(length.low):
        return str(length)
    return f"{length} [{length.low:.0f}, {'-' if np.isinf(length.high) else f'{length.high:.0f}'}]"

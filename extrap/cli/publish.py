"""Make a bundle of a study that others can verify: rows, the words of every job, cards, sums.

results/<study>/bundle/
    README.md                     a card for the hub: what it is, its licence by name, its table,
                                  and the rows that are not there
    card.yaml, card-<n>.svg       length cards, one for each series
    .eval_results/extrap.yaml     scores as the hub lists them
    rows.csv, jobs.json           all rows; the words and hashes of every job, the rules of
                                  left_out.yaml
    runs/<run>/                   with --weights: what training kept
    sums.json                     SHA-256 of every file
"""

import hashlib
import json
import shlex
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import yaml

from extrap.cli.shared import argument, command, need_study
from extrap.results import left_out
from extrap.results import rows as table
from extrap.results.card import cards
from extrap.results.places import place
from extrap.results.series import whole
from extrap.results.sheets import sheets
from extrap.runs.layout import CURVE, RUNS, SAFE
from extrap.utils import atomic, markdown
from extrap.utils.atomic import check_links
from extrap.utils.errors import UserError
from extrap.utils.untrusted import read_json

if TYPE_CHECKING:
    from extrap.cli.listed import Listed
    from extrap.runs.cost import Cost

JOBS, ROWS, SUMS, CARD = "jobs.json", "rows.csv", "sums.json", "card.yaml"
KEPT = ("config.json", "weights.pt", "curve.json", "state.json")
"""Files of a run folder that a bundle with weights holds."""
VERSION = 1
UNMADE = "no job of this study makes this run: its options, or the version of its code, were others"
EMBEDDED = "the source of torch (BSD-3-Clause), as installed; not part of this bundle"


@command(
    "study? results",
    argument("--cards", action="store_true", help="the length cards alone, of series without an "
             "extension, in results/<study>/cards"),
    argument("--weights", action="store_true", help="put the weights of its runs into the bundle"),
    argument("--licence", default="mit", metavar="NAME", help="licence of the rows (default: mit)"),
    argument("--text", default=EMBEDDED, metavar="WORDS", help="the text that was read, and its "
             "licence, by name (default: the embedded corpus)"),
)  # fmt: skip
def main(args: Namespace) -> str:
    study = need_study(args)
    folder = place(args.results, study)
    found = table.open_study(args.results, study)
    if args.cards:
        return write_cards(folder / "cards", found, spent(study))
    jobs = _with_rows(folder, study)
    found = table.read_with_sheets(folder)
    stale = unmade(found, jobs) != ""
    gone = sorted(found.loc[stale, "sheet"].unique())
    found = found[~stale].drop(columns="sheet")
    words = [
        {"run": job.run, "extension": job.extension, "words": list(job.words), "tasks": job.tasks}
        for job in jobs
    ]
    contents = made(found, words, args.licence, args.text, left_out.rules(folder), gone)
    if args.weights:
        contents |= _weights({job.run for job in jobs})
    return write(folder / "bundle", contents)


def _with_rows(folder: Path, study: str) -> list["Listed"]:
    """Returns the jobs of a study that have rows; a diverged run has its curve alone. Raises
    UserError if no job makes any of them, and for a job whose words a bundle may not hold.
    """
    from extrap.cli.listed import foreign, of_study

    jobs = [(f"{job.run}__{job.extension}", job) for job in of_study(study)]
    names = [sheet.name.rpartition("__") for sheet in sheets(folder)]
    stems = {stem for stem, _, task in names if task != CURVE}
    measured = {stem.rpartition("__")[0] for stem in stems}
    bare = {stem.rpartition("__")[0] for stem, _, _ in names} - measured
    published = [job for stem, job in jobs if stem in stems or job.run in bare]
    if not published:
        remedy = "start the study again with its command, or remove these rows"
        lost = min(stems, default=study)
        raise UserError("STUDY", study, f"no command makes {lost}", remedy)
    for job in published:
        if own := foreign(job.words):
            problem = f"its jobs need {shlex.join(own)}, which a bundle does not hold"
            remedy = f"`extrap publish {study} --cards` writes its length cards"
            raise UserError("STUDY", study, problem, remedy)
    return published


def made(
    rows: pd.DataFrame,
    jobs: Sequence[dict],
    licence: str,
    text: str,
    rules: Sequence[left_out.Rule] = (),
    gone: Sequence[str] = (),
) -> dict[str, bytes]:
    """Returns the files of a bundle by name, but for weights and sums: a function of their rows.

    Args:
        rules: of rows that are left out
        gone: names of sheets that no job makes any more, and which the bundle does not hold
    """
    from extrap.figures.report.card import svg

    own = cards(rows)
    about = {"version": VERSION, "text": text, "licence": licence, "jobs": list(jobs)}
    about |= {"left_out": list(rules)} if rules else {}
    about |= {"not_made": list(gone)} if gone else {}
    records = rows.drop(columns=table.MULTIPLE).to_dict("records")
    card_of_hub = readme(own, rows, licence, text)
    contents = {
        ROWS: table.ROWS.encoded(records),
        JOBS: _json(about),
        CARD: yaml.safe_dump(list(own.values()), sort_keys=False, allow_unicode=True).encode(),
        ".eval_results/extrap.yaml": yaml.safe_dump(scores(own), sort_keys=False).encode(),
        "README.md": (card_of_hub + _without(rows, jobs, rules, gone)).encode(),
    }
    svgs = {f"card-{n}.svg": svg(one).encode() for n, one in enumerate(own.values(), 1)}
    return contents | svgs


def spent(study: str) -> dict[str, "Cost"]:
    """Returns the costs of a study by the names of `extrap.runs.cost`, as far as run folders here
    know them.
    """
    from extrap.runs.cost import costs

    with suppress(UserError):  # rows in another folder of results
        return costs(study)
    return {}


def write_cards(folder: Path, rows: pd.DataFrame, costs: Mapping[str, "Cost"]) -> str:
    """Writes the length cards of the series without an extension; returns their folder."""
    from extrap.figures.report.card import svg
    from extrap.runs.cost import total

    check_links(folder)
    plain = rows[rows["extension"] == "direct"]
    own = cards(plain)
    for s in whole(plain):
        runs = s.rows["run"].unique()
        names = [*runs, *(f"{run} + direct" for run in runs)]
        if known := [costs[name] for name in names if name in costs]:
            numbers = total(known).plain()
            own[s.label]["cost"] = {name: x for name, x in numbers.items() if x is not None}
    contents = {".eval_results/extrap.yaml": scores(own)}
    named = {_file(label, n): card for n, (label, card) in enumerate(own.items(), 1)}
    contents |= {f"{name}.yaml": card for name, card in named.items()}
    for name, values in contents.items():
        atomic.replace(folder / name, yaml.safe_dump(values, sort_keys=False).encode())
    for name, card in named.items():
        atomic.replace(folder / f"{name}.svg", svg(card).encode())
    return str(folder)


def _file(label: str, number: int) -> str:
    """Returns the name of a card's files: rows of others may hold any label."""
    return label if SAFE.fullmatch(label) else f"series-{number}"


def scores(own: dict[str, dict]) -> list[dict[str, Any]]:
    """Returns scores as the hub's `.eval_results` lists them: a data set, a task, a value."""
    found = []
    for label, card in own.items():
        for kind in ("found", "loss"):
            for name, value in _measured(card[kind]):
                task = {"id": "extrap", "task_id": name}
                found.append({"dataset": task, "value": value, "notes": f"{label}, {kind}"})
    return found


def _measured(by_place: dict[str, dict[str, list]]) -> Iterator[tuple[str, float]]:
    """Yields `task protocol multiple` with the value, if there is one."""
    for place_of, by_multiple in by_place.items():
        for multiple, (value, *_) in by_multiple.items():
            if value is not None:
                yield f"{place_of} {multiple}", value


def readme(own: dict[str, dict], rows: pd.DataFrame, licence: str, text: str) -> str:
    """Returns the card of a bundle for the hub."""
    study = ", ".join(sorted(rows["study"].unique()))
    head = {"license": licence, "tags": ["length-extrapolation", "extrap"]}
    lines = [["series", "L", "parameters", "seeds", "effective length, tokens"]]
    for label, card in own.items():
        size = "-" if card["parameters"] is None else f"{card['parameters']:,}"
        seeds = str(len(card["seeds"]))
        lines.append([label, str(card["train_length"]), size, seeds, _lengths(card)])
    top = f"---\n{yaml.safe_dump(head, sort_keys=False)}---\n# {study}, measured by extrap"
    said = f"Rows: {licence}. Text: {text}."
    how = "`extrap verify FOLDER` draws cells of `rows.csv`, computes them again and compares."
    return "\n".join([top, "", markdown.table(lines), "", said, how, ""])


def _lengths(card: dict) -> str:
    """Returns the effective lengths of a series as a cell."""
    said = []
    for place_of, one in card["effective_length"].items():
        bound = "≥ " if one["at_least"] else ""
        said.append(f"{place_of}: {bound}{one['tokens']:g}")
    return ", ".join(said) or "-"


def unmade(rows: pd.DataFrame, jobs: Sequence["Listed"]) -> pd.Series:
    """Returns why no job makes a row, "" for one that a job makes."""
    runs = {job.run for job in jobs}
    hashes: set[tuple[str, str, str]] = set()
    for job in jobs:
        hashes |= {(job.run, config, task) for task, config in job.tasks.items()}
    why = []
    for one in zip(rows["run"], rows["config"], rows["task"], strict=True):
        known = "" if one in hashes else "its rows are of other options than its job has"
        why.append(known if one[0] in runs else UNMADE)
    return pd.Series(why, rows.index, dtype=str)


def unmeasured(
    rows: pd.DataFrame, jobs: Sequence[dict], rules: Sequence[left_out.Rule]
) -> list[str]:
    """Returns, in words, the evaluations that jobs list and no row measures. One that two jobs list
    under other options has the rows of the later one.
    """
    there = {*zip(rows["run"], rows["config"], strict=True)}
    none = left_out.tasks(list(rules))
    found: dict[str, bool] = {}
    for job in jobs:
        for task, config in sorted(job["tasks"].items()):
            name = f"{job['run']} {job['extension']} {task}"
            measured = (job["run"], config) in there or task in none
            found[name] = found.get(name, False) or measured
    return [name for name, measured in found.items() if not measured]


def _without(
    rows: pd.DataFrame, jobs: Sequence[dict], rules: Sequence[left_out.Rule], gone: Sequence[str]
) -> str:
    """Returns what the card of a bundle says of rows that are not there; nothing if all are."""
    lines = [f"- evaluation without rows: {name}" for name in unmeasured(rows, jobs, rules)]
    said = [json.dumps(rule, sort_keys=True).replace("`", "'") for rule in rules]
    lines += [f"- rows left out: `{rule}`" for rule in said]
    lines += [f"- rows that no command makes, left out: {name}" for name in gone]
    return "\n".join(["", *lines, ""]) if lines else ""


def write(folder: Path, contents: dict[str, bytes]) -> str:
    """Writes a bundle and the sums of its files in place of an earlier one; returns its folder."""
    check_links(folder)
    earlier: dict[str, Any] = {}
    with suppress(UserError):  # one that was damaged
        earlier = read_json(folder / SUMS) if (folder / SUMS).is_file() else {}
    for name in {*earlier} - {*contents}:
        path = folder / name
        if path.resolve().is_relative_to(folder.resolve()) and path.is_file():
            path.unlink()
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    for name, content in (contents | {SUMS: _json(sums)}).items():
        atomic.replace(folder / name, content)
    return str(folder)


def _weights(runs: set[str]) -> dict[str, bytes]:
    """Returns what training kept of runs, by its place in a bundle."""
    found = {}
    for run in sorted(runs):
        for name in KEPT:
            path = RUNS / run / name
            if not path.is_file():
                problem = f"no {name} of {run} here"
                remedy = "leave it out, or train the run"
                raise UserError("--weights", problem=problem, remedy=remedy)
            found[f"runs/{run}/{name}"] = path.read_bytes()
    return found


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()

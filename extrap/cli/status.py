"""Print the state of every job of a study and what is left to run; without STUDY, a line for each
study.
"""

import shlex
from argparse import Namespace
from collections import Counter

from extrap.cli.experiments import started
from extrap.cli.shared import as_json, command, plain
from extrap.runs.study import ENDED, Standing, State, standings, studies
from extrap.utils.errors import UserError, escaped, printable
from extrap.utils.progress import clock, words


@command("study? json")
def main(args: Namespace) -> str:
    if args.study is None:
        known = {name: _readable(name) for name in studies()}
        return _as_json(known) if args.json else _lines(known)
    jobs = standings(args.study)
    return as_json(values(args.study, jobs)) if args.json else text(args.study, jobs)


def _readable(study: str) -> list[Standing] | UserError:
    """Returns the jobs of a study, or why its files cannot be read."""
    try:
        return standings(study)
    except UserError as error:
        return error


def _as_json(known: dict[str, list[Standing] | UserError]) -> str:
    found = {}
    for name, jobs in known.items():
        failed = isinstance(jobs, UserError)
        found[name] = {"error": str(jobs)} if failed else values(name, jobs)["counts"]
    return as_json({"studies": found})


def _lines(known: dict[str, list[Standing] | UserError]) -> str:
    width = max(map(len, known), default=0)
    lines = []
    for name, jobs in known.items():
        said = jobs if isinstance(jobs, UserError) else counts(jobs)
        lines.append(f"{name:{width}}  {said}")
    return "\n".join(lines) or "no study here yet"


def values(study: str, jobs: list[Standing]) -> dict:
    """Returns the same as plain values: {study, counts: {state: jobs}, jobs: [{run, extension,
    state, left, seconds, note, doing}], commands: [[word, ...]]}.

    seconds: spent on finished tasks, null without any; doing: {phase, done, total, note, left}
    of a running job, as far as it reports; commands: the commands that asked for the jobs left, as
    noted in runs/.jobs, a list of words each.
    """
    return plain({
        "study": study,
        "counts": dict(Counter(job.state.value for job in jobs)),
        "jobs": [
            {"run": job.entry.run, "extension": job.entry.extension, "state": job.state.value,
             "left": job.left, "seconds": job.seconds, "note": job.note, "doing": job.doing}
            for job in jobs
        ],
        "commands": _commands(jobs),
    })  # fmt: skip


def text(study: str, jobs: list[Standing]) -> str:
    """Returns counts, a line per job (unfinished jobs first), and the jobs left with the commands
    that run them.
    """
    states = list(State)
    ordered = sorted(
        jobs, key=lambda job: (states.index(job.state), job.entry.run, job.entry.extension)
    )
    names = [_name(job) for job in ordered]
    width = max(map(len, names), default=0)
    lines = [_line(job, f"{name:{width}}") for job, name in zip(ordered, names, strict=True)]
    return "\n".join([f"study {study}: {counts(jobs)}", *lines, *_left(jobs)])


def counts(jobs: list[Standing]) -> str:
    """`14 jobs: 9 done, 2 running, 3 missing`"""
    count = Counter(job.state for job in jobs)
    others = [state for state in State if state not in ENDED]
    parts = [f"{count[state]} {state}" for state in (*ENDED, *others) if count[state]]
    return f"{len(jobs)} job{'s' * (len(jobs) != 1)}: {', '.join(parts) or 'none'}"


def _name(job: Standing) -> str:
    run, extension = job.entry.run, job.entry.extension
    return run if extension == "direct" else f"{run} + {extension}"


def _line(job: Standing, name: str) -> str:
    time = "-" if job.seconds is None else clock(job.seconds)
    left = f"left: {', '.join(job.left)}" if job.left else ""
    doing = ", ".join(words(job.doing)) if job.doing else ""
    more = "  ".join(part for part in (doing, left, job.note) if part)
    return printable(f"  {job.state:14}  {time:>7}  {name}  {more}".rstrip())


def _left(jobs: list[Standing]) -> list[str]:
    """Returns how much is left, judged by the finished jobs, and the commands that do it."""
    waiting = [job for job in jobs if job.left and job.state is not State.RUNNING]
    if not waiting:
        return []
    took = [job.seconds for job in jobs if job.state in ENDED and job.seconds is not None]
    guess = ""
    if took:
        left = clock(sum(took) / len(took) * len(waiting))
        guess = f", about {left} of work at the pace of those done"
    commands = [escaped(shlex.join(command)) for command in _commands(jobs)]
    source = f"; asked for, as runs/.jobs/{waiting[0].entry.study} has it, by" if commands else ""
    return [
        f"left to run: {len(waiting)} job{'s' * (len(waiting) != 1)}{guess}{source}",
        *(f"  {command}" for command in commands),
    ]


def _commands(jobs: list[Standing]) -> list[list[str]]:
    """Returns the commands of extrap that started the jobs left, split into words."""
    waiting = (job for job in jobs if job.left and job.state is not State.RUNNING)
    return started(job.entry for job in waiting)

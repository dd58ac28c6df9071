"""Generated records of key-value retrieval, of any size, written in the published format that
extrap.data.trials.published reads.

    python -m extrap.cli.records --pairs 140 --examples 500 --seed 0 kv-140.jsonl.gz

They are the examples that the task lost-in-the-middle makes with the same seed, so that other
programs can be asked the same.
"""

import gzip
import json
from collections.abc import Iterable
from pathlib import Path

from extrap.cli.arguments import parser
from extrap.cli.exits import reported
from extrap.data.trials.json_prompt import UUID, Example, generate, most
from extrap.data.trials.published import FIELDS, LONGEST
from extrap.utils import files as atomic
from extrap.utils.errors import UserError


def write(path: Path, examples: Iterable[Example]) -> None:
    """Puts a file in place at once, packed where its name ends in .gz; the same examples are the
    same bytes.

    The record that line i asks for stands at index i, counted round, so that no place is preferred;
    a reader moves it anyway.
    """
    data = b"".join(_line(example, i % len(example.values)) for i, example in enumerate(examples))
    atomic.replace(path, gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def _line(example: Example, index: int) -> bytes:
    records = [
        *example.distractors[:index],
        (example.key, example.value),
        *example.distractors[index:],
    ]
    return (
        json.dumps(dict(zip(FIELDS, (records, example.key, example.value), strict=True))).encode()
        + b"\n"
    )


def main(argv: list[str] | None = None) -> None:
    """The command. A mistake is one line on stderr and exit code 2."""
    command = parser("extrap.cli.records", "Write generated records in the published format.")
    command.add_argument(
        "path", metavar="FILE", nargs="?", type=Path, help="jsonl, or jsonl.gz, to write"
    )
    for name, default, what in (
        ("pairs", 75, "records of an example"),
        ("examples", 500, "examples, a line each"),
        ("characters", UUID, "of a key and of a value, the first of a UUID"),
        ("seed", 0, "of the draws, as task.lost-in-the-middle.seed"),
    ):
        command.add_argument(
            f"--{name}", default=default, metavar="N", help=f"{what} (default: {default})"
        )
    args = vars(command.parse_args(argv))
    with reported(command.prog):
        path = args.pop("path")
        pairs, examples, characters, seed = (
            _whole(f"--{name}", text, int(name != "seed")) for name, text in args.items()
        )
        if characters > UUID:
            raise UserError(
                "--characters", characters, f"expected 1 to {UUID} characters, as in a UUID"
            )
        # A record is 10 bytes more than its key and value, the rest of a line less than 128.
        if (ids := min(most(characters), (LONGEST - 128) // (2 * characters + 10))) < pairs:
            raise UserError(
                "--pairs",
                pairs,
                f"with --characters={characters} a line holds at most {ids} records",
            )
        if path is None or (path.exists() and not path.is_file()):
            raise UserError(
                "FILE",
                ... if path is None else path,
                "not a file" if path else "missing",
                "give the name of a jsonl or jsonl.gz file to write",
            )
        try:
            write(path, (generate(pairs, characters, seed, i) for i in range(examples)))
        except OSError as error:
            raise UserError(
                "FILE",
                path,
                f"cannot be written ({error.strerror})",
                "give a file in a folder that is yours",
            ) from None


def _whole(option: str, text: str | int, least: int) -> int:
    try:
        if (number := int(text)) >= least:
            return number
    except ValueError:
        pass
    raise UserError(option, text, f"expected a whole number of at least {least}")


if __name__ == "__main__":
    main()

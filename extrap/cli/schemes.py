"""`extrap-schemes`: every scheme of conf/scheme in one table; with --write, the READMEs of conf."""

from pathlib import Path

from extrap.cli import catalogue
from extrap.cli.arguments import parser
from extrap.utils.paths import conf_dir


def main(argv: list[str] | None = None) -> None:
    command = parser("extrap-schemes", "List every positional scheme.")
    command.add_argument(
        "--write",
        action="store_true",
        help="write the tables of schemes, extensions and tasks into the READMEs of conf",
    )
    if command.parse_args(argv).write:
        for group, table in catalogue.TABLES.items():
            path = Path(conf_dir()) / group / "README.md"
            text = path.read_text(encoding="utf-8")
            new = catalogue.inserted(text, group, catalogue.markdown(table()))
            path.write_text(new, encoding="utf-8")
            print(path)
        return
    frame = catalogue.schemes().drop(columns="source")
    print(frame.to_string(index=False, max_colwidth=50))

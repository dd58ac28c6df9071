"""The wording of messages, in one file: tests/faults/messages.txt.

A case of a table names what is done and the option that the line has to name. The line itself
stands in messages.txt, one a case, in which `...` stands for anything; `pytest tests/faults
--write-messages` writes those lines anew that have changed. Review the wording there.
"""

import re
from pathlib import Path

PATH = Path(__file__).with_name("messages.txt")
HEAD = "# The lines of the cases here. `pytest tests/faults --write-messages` writes them.\n"
FOLDERS = re.compile(r"/[^\s:]*/pytest-of-[^\s:]*/")
RUN = re.compile(r"-[0-9a-f]{8}-s0")
MEMORY = re.compile(r"(this machine has) [\d,]+")
LIST = re.compile(r"([^\s,;]+, )(?:[^\s,;]+, ){4,}[^\s,;]+")
LONG = re.compile(r"(\S)\1{99,}\S*")


class Messages:
    """{case: line}, and whether lines that have changed are written anew or are a failure."""

    def __init__(self, writing: bool):
        self.writing = writing
        self.lines = read()

    def check(self, case: str, option: str, line: str) -> None:
        """The line names this option, and is the one of messages.txt."""
        case, line = printable(case), plain(line)
        named = re.escape(plain(option)) + r"(?![\w.])" if option else ""
        assert re.match(named, line), (option, line)
        if self.writing:
            if not matches(self.lines.get(case, ""), line):
                self.lines[case] = line
        else:
            assert matches(self.lines[case], line), line

    def write(self) -> None:
        if self.writing:
            text = "".join(f"\n{case}\n    {line}\n" for case, line in sorted(self.lines.items()))
            PATH.write_text(HEAD + text, encoding="utf-8")


def read() -> dict[str, str]:
    text = PATH.read_text(encoding="utf-8") if PATH.exists() else ""
    return dict(re.findall(r"^(\S.*)\n    (.*)$", text, re.MULTILINE))


def matches(pattern: str, line: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("..."))), line) is not None


def plain(line: str) -> str:
    """A line without folders of this test, memory of this machine, and the ends of long lists."""
    line = RUN.sub("-...-s0", FOLDERS.sub("", MEMORY.sub(r"\1 ...", line)))
    return printable(LIST.sub(r"\1...", LONG.sub(r"\1...", line)))


def printable(text: str) -> str:
    text = LONG.sub(r"\1...", text)
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def table(text: str) -> dict[str, str]:
    """{words: option} of a table with one case a line: options with ` | ` between, and behind `->`
    the option that the message names, where it is not the last.
    """
    found = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        words, _, option = line.partition(" -> ")
        found[words.strip()] = option.strip() or name(words)
    return found


def name(words: str) -> str:
    """The option of the last word."""
    return words.split(" | ")[-1].strip().lstrip("+~").partition("=")[0]

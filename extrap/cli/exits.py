"""How the small commands end: exit code 0, or 2 and a line for each mistake."""

import errno
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from extrap.utils import streams
from extrap.utils.errors import UserError, disk_fault, printable

EXITS = (
    "Exit codes: 0 done; 2 a mistake, told in lines on stderr; 130 interrupted; 141 the reader of "
    "a pipe stopped."
)


@contextmanager
def reported(program: str) -> Iterator[None]:
    """Turns mistakes, and disks that take or give nothing, into lines on stderr that open with the
    name of the program.

    Whoever reads what it prints may stop reading: the program then ends without a word, as `head`
    expects. What was printed has been taken when this ends.
    """
    streams.settle()
    try:
        yield
        sys.stdout.flush()
        return
    except UserError as error:
        text = str(error)
    except KeyboardInterrupt:
        end(program, "interrupted", 130)
    except OSError as error:
        gone(error)
        if (line := disk_fault(error)) is None:
            raise
        text = line
    end(program, text, 2)


def gone(error: OSError) -> None:
    """Ends the process where the reader of its output has gone. A full disk under the output must
    not be met once more when Python ends.
    """
    if error.errno == errno.EPIPE:
        streams.silence()
        raise SystemExit(141) from None
    if error.filename is None:
        streams.silence()


def end(program: str, text: str, code: int) -> None:
    with suppress(OSError):  # stderr may lie on the disk that is full
        for line in text.split("\n"):  # other ends of lines are shown as they are written
            print(f"{program}: {printable(line)}", file=sys.stderr)
    raise SystemExit(code) from None

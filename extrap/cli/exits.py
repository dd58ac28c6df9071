"""How the small commands end: exit code 0, or 2 and a line for each mistake."""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from extrap.utils.errors import UserError, disk_fault, printable

EXITS = (
    "Exit codes: 0 done; 2 a mistake, told in lines on stderr; 141 the reader of a pipe stopped."
)


@contextmanager
def reported(program: str) -> Iterator[None]:
    """Turns mistakes, and disks that take or give nothing, into lines on stderr that open with the
    name of the program.

    Whoever reads what it prints may stop reading: the program then ends without a word, as `head`
    expects.
    """
    try:
        yield
    except UserError as error:
        text = str(error)
    except OSError as error:
        if error.errno == errno.EPIPE:
            os.dup2(
                os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno()
            )  # Python would try once more at its end
            raise SystemExit(141) from None
        if (line := disk_fault(error)) is None:
            raise
        text = line
    else:
        return
    for line in text.splitlines():
        print(f"{program}: {printable(line)}", file=sys.stderr)
    raise SystemExit(2)

"""The file of messages, read once and written at the end if `--write-messages` is given, and the
check of one mistake.
"""

import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.faults.command import told
from tests.faults.golden import Messages


@pytest.fixture(scope="session")
def messages(request: pytest.FixtureRequest) -> Iterator[Messages]:
    found = Messages(request.config.getoption("--write-messages"))
    yield found
    found.write()


def tree() -> dict[str, object]:
    """Everything in the working folder but maps of text."""
    found = {}
    for path in sorted(Path().rglob("*")):
        if path.parts[:2] not in (("runs",), ("runs", ".tokens")):
            small = path.is_file() and path.stat().st_size < 2**24 and os.access(path, os.R_OK)
            found[str(path)] = path.read_bytes() if small else path.lstat().st_mode
    return found


@pytest.fixture
def check(capsys, messages):
    """Checks that a call ends in the one line of messages.txt about this option, with exit code 2,
    and leaves every file of the working folder as it was.
    """

    def checked(call: Callable[[], object], case: str, option: str, program="extrap") -> None:
        before = tree()
        code, lines = told(call, capsys)
        assert (code, len(lines)) == (2, 1), lines
        assert len(lines[0]) < 2000
        assert lines[0].startswith(f"{program}: ")
        messages.check(case, option, lines[0].removeprefix(f"{program}: "))
        assert tree() == before

    return checked


@pytest.fixture
def listener():
    """(address, [first bytes of each connection]) of a server that answers nothing."""
    heard: list[bytes] = []

    def listen(server: socket.socket) -> None:
        while True:
            try:
                with server.accept()[0] as connection:
                    heard.append(connection.recv(99))
            except OSError:
                return

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=listen, args=(server,), daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}", heard
        server.shutdown(socket.SHUT_RDWR)

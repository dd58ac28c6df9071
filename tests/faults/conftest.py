"""The file of messages, read once and written at the end if `--write-messages` is given."""

from collections.abc import Iterator

import pytest

from tests.faults.golden import Messages


@pytest.fixture(scope="session")
def messages(request: pytest.FixtureRequest) -> Iterator[Messages]:
    found = Messages(request.config.getoption("--write-messages"))
    yield found
    found.write()

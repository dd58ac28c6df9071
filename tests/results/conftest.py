"""Plausible studies as the frames that `rows.read` gives."""

import pytest

from extrap.results import rows
from tests.results import plausible


@pytest.fixture(scope="session")
def frame(tmp_path_factory):
    """Writes rows (dicts) and reads them back as a frame."""

    def read(written):
        study = tmp_path_factory.mktemp("study")
        rows.write(study / "rows" / "a.csv", written)
        return rows.read(study)

    return read


@pytest.fixture(scope="session")
def demo(frame):
    """Seven schemes and the controls, one seed."""
    return frame(plausible.study_rows() + plausible.control_rows())

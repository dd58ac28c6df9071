"""Rows that figures are drawn from."""

from tests.support.serving import serving, small  # noqa: F401  fixtures

"""Rows in the one schema of results, and series, intervals and comparisons of them."""

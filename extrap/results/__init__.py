"""Rows, the one schema of results, and what is said of them: series, intervals, comparisons."""

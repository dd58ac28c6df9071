"""Intervals and differences, 95 %, as functions of arrays."""

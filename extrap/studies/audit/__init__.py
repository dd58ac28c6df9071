"""Demonstrations of properties that extrap audit measures."""

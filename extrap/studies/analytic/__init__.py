"""Figures that follow from formulas alone."""

"""Figures that need no run: each file has `data()`, what follows from formulas, and `draw() ->
Figure`, which draws it.
"""

"""Statements declared before a study, and what its rows say about them."""

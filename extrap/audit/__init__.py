"""Measures positional schemes through their hooks (`extrap audit`), whatever their name or kind."""

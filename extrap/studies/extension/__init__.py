"""The study of context extensions."""

"""The study of all schemes."""

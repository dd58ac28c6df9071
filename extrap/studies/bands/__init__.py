"""The study of frequency bands."""

"""The study of tasks."""

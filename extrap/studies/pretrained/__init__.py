"""The study of published checkpoints."""

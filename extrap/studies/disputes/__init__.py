"""The study of disputed recipes."""

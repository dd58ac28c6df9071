"""One configuration made into a run: built, checked, trained, tuned, evaluated, kept on disk."""

"""The programs, one per file, and the frame that they run in. The only place that knows Hydra."""

"""A scheme, an extension and a task of somebody else."""

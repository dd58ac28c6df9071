"""Figures of somebody else."""

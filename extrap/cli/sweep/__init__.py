"""A sweep on one machine: every job a fresh process, a bounded number side by side, none able to
take another down.
"""

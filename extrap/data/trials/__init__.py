"""Test contexts, a pure function of (seed, length, depth, item), one kind per file; training data
lies beside this folder.
"""

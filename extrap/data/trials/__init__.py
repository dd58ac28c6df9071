"""Test contexts, one kind per file, each a pure function of (seed, length, depth, item)."""

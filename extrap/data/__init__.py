"""Text and synthetic sequences: corpus sources, the token memory map, key-value retrieval and the
training mixture.
"""

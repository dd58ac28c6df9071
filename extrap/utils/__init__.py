"""The ground floor: errors for people, files that are there whole or not at all, locks, progress,
paths.
"""

"""The ground floor: errors for people, whole files, locks, progress, paths."""

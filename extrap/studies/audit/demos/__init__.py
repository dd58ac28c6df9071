"""Demonstrations, one a file: python -m extrap.studies.audit.demos."""

"""Hydra's way to `extrap.cli.sweep`; found because `extrap.cli._plugins` is on the import path, in
the namespace `hydra_plugins`.
"""

"""Hydra's way to `extrap.cli.sweep`; found because `extrap._plugins` lies on the import path as a part of the namespace `hydra_plugins`."""

"""Plug-ins through which Hydra runs `extrap.cli.sweep`; Hydra finds them because
`extrap.cli._plugins` is on the import path, in the namespace `hydra_plugins`.
"""

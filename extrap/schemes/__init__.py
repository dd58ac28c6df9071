"""One positional scheme per file. The file system is the registry: a scheme is one file here and
one YAML in conf/scheme.
"""

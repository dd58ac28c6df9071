"""Code of the studies of this repository, a package each: figures of its own (`figures`), counts,
demonstrations.

    extrap.studies.extension.figures.density    the figure `density` of results/extension

`results/` holds data, figures and pages alone: extrap runs nothing that lies there.
"""

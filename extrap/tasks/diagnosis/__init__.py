"""Numbers that tell what attention and gradients do, as functions of tensors; the task
`diagnostics` measures them on a run.
"""

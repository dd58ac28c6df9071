"""The seam and the model: the context of a hook, the hooks, how schemes compose, the one place
where attention is computed.
"""

"""One architecture of transformers per file: config.json and tensors of a model that is equal to
one of ours. extrap/pretrained/export.py says which serves which scheme.
"""

"""One family of checkpoints per file. MODEL_TYPES says which `model_type` of a config.json it
reads; extrap/pretrained/checkpoint.py finds it by that.
"""

"""The seam and the model: hooks and their context, stacks of schemes, kernels, a GPT."""

"""Published checkpoints as models of extrap: config and tensors become a GPT and a scheme."""

"""The seam and the model: what a scheme is told, its hooks, how schemes compose, the one place where attention is computed."""

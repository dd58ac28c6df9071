"""Text and synthetic sequences: corpora, parts of training and their mixture, test contexts."""

"""What Lightning is told, and what is tuned."""

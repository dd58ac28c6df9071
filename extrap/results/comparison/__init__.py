"""Two series on the same documents, trials and seeds."""

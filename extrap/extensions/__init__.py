"""One context-extension method per file."""

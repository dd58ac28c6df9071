"""What the study of extensions asks of its rows."""

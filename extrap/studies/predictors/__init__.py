"""The study of scores that predict reach."""

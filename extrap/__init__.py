"""extrap: any positional scheme, trained short, tested long, compared fairly."""

"""A study as one page of HTML that stands by itself."""

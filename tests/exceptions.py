"""Contract checks a component is excused from: {(name, check): reason}. Strict: an excuse that is not needed fails."""

EXCUSED: dict[tuple[str, str], str] = {}

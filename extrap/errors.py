"""The one exception that is shown to people as a line instead of a traceback."""


class UserError(Exception):
    """A mistake in what was asked for: `option=value: what is wrong; what is allowed and what to do`."""

"""What positional schemes do, measured through their hooks: `extrap audit`. Nothing here asks a
scheme for its name or kind.
"""

"""The reference study."""

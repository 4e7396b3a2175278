"""The instance's own map."""

"""What the scripts of maps ask for: the instance's own map."""

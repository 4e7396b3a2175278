"""What the scripts of maps ask for: the instance's own map, and places to go to."""

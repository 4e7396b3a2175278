"""Programs that draw maps, against a running service."""

"""Programs that draw maps or tables, against a running service."""

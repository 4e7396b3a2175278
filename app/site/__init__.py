"""What the service shows besides /v1: its state, its metrics, its reference page."""

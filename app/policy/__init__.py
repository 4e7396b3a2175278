"""What the service promises, as tables. Standard library only."""

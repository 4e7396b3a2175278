"""The promises of the service as tables. Standard library only."""

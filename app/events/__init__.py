"""Events: writing and reading them, and the catalogue of their types."""

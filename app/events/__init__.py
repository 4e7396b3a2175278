"""Writing and reading events, and the catalogue of their types."""

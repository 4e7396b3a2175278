"""Events as they can be read, and the catalogue of their types."""

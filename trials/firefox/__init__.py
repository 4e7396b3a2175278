"""Applications that people reach in Firefox."""

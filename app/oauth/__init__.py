"""Applications that act for people (OAuth 2.0)."""

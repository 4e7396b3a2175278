"""Shared by all pages: layout, forms, the signed-in person, static files."""

"""Readers of files with features. ``opening`` recognizes the format by content."""

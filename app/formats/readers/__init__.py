"""Reads files with features, whatever their format. ``opening`` recognizes it by content."""

"""Parsing the texts of settings. ``config.py`` has the settings."""

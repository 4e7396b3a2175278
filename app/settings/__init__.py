"""How the text of a setting becomes its value. ``config.py`` has the settings."""

"""``app.geometry.countries``."""

"""Registered OAuth applications: what they may ask for, their secrets, who uses them."""

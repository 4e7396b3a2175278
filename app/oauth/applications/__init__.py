"""Registered OAuth applications: registering them, their secrets, and the people who use them."""

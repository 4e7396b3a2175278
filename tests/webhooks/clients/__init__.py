"""Receivers and libraries of others verify what the service sent, unchanged."""

"""Webhooks: URLs that receive an account's events."""

"""Webhooks: the addresses that an account's events are sent to."""

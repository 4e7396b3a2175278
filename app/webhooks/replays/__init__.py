"""Replays: sending past events to a webhook again."""

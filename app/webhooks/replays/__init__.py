"""Replays: past events, sent to a webhook again."""

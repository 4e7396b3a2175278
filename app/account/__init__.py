"""Accounts: creating, reading and renaming them, and their plans."""

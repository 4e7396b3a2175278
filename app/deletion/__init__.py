"""Leaving: the deletion of accounts, and of people."""

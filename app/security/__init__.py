"""Passwords, tokens, encryption of stored secrets, signatures."""

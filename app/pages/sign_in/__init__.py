"""Signing up, signing in and out, and a forgotten password."""

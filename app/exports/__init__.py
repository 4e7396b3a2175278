"""Exports: all projects, or all assets, of an account as one file."""

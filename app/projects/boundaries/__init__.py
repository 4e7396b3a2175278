"""Boundaries of projects: checked, compared with those of other projects, listed and restored."""

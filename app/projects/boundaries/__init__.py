"""Boundaries of projects: checked, compared with other projects, listed and restored."""

"""Tests of app.formats."""

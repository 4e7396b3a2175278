"""Signing in at an OpenID Connect provider, and linking a person to it."""

"""The second step of signing in, a person's own second factors, and asking for one again."""

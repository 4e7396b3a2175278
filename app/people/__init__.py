"""People: signing up, signing in, passwords and mailed links."""

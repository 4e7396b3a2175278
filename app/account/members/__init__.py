"""The people of an account, and their roles."""

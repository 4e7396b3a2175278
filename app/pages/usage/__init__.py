"""The page of an account's usage."""

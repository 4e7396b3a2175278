"""The page of the account's members."""

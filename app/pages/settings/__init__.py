"""The page of the settings of an account."""

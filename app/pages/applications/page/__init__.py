"""The page of one application that the account has registered."""

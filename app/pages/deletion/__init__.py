"""The pages on which people delete an account, or themselves."""

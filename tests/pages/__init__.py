"""The pages on which people work on their forests."""

"""API keys and service tokens: creating, listing, revoking and verifying them."""

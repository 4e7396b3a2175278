"""API keys and service tokens: made, listed, revoked."""

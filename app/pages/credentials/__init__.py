"""The pages of API keys and of service tokens."""

"""The API of webhooks, and deliveries."""

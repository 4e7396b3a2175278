"""Pages of webhooks: the list, making and editing one, its secret."""

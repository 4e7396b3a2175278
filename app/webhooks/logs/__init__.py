"""The log of a webhook: its attempts, and redelivery."""

"""The log of a webhook: its delivery attempts, and redelivery."""

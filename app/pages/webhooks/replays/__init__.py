"""The page on which past events are sent to a webhook again."""

"""The rules of the house as tests: functions over source text, so that each can be seen to fail."""

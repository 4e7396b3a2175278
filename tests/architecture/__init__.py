"""The rules of the code as tests: functions over source text, so that each can be seen to fail."""

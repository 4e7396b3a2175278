"""Questions about the caller's forest, answered by a language model that reads through tools."""

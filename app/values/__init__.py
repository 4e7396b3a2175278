"""Basic values: ids, times, text, email addresses, strict JSON, schema fields."""

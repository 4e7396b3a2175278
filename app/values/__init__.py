"""Small values that everything uses: ids, time, text, email addresses, strict JSON, fields."""

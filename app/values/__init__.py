"""Small values that everything uses: ids, time, text, e-mail addresses, strict JSON, fields."""

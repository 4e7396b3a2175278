"""What operators have set for the whole instance, as everything else reads it (``app.operator``
changes it)."""

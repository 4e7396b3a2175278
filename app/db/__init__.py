"""Database access: engines, compiled queries, the search index, column types, migrations."""

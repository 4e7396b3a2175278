"""The pages for people, and what fills their generated tables."""

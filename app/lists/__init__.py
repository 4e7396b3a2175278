"""Shared by all lists: from a query to the rows of a page, or of a file that has all of them."""

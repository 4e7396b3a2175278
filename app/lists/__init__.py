"""What all lists of /v1 share: from a query to the rows of a page."""

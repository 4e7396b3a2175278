"""Pages of imports: a file is uploaded, compared with what there is, applied and undone."""

"""The page of plots for the EUDR: what the file would hold, and what to complete before."""

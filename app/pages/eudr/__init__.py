"""The page of plots for the EUDR: what the file would be, and what is to be completed before."""

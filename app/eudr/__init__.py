"""Plots for the EU Deforestation Regulation (EUDR): their file, and a report on its problems."""

"""Plots for the EU Deforestation Regulation (EUDR): their file, and what stands against it."""

"""What maps show below and above the shapes: layers, and whose images their pages may load."""

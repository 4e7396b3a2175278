"""Assets: equipment, stations and points inside a project."""

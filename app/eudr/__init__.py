"""/v1/eudr: whether the plots of an account would be taken by the EUDR's Information System."""

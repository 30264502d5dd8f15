"""alpha, beta and gamma of a machine out of what was measured on it."""

"""Sweeps: a scenario run many times with something varied, and what came of it side by side."""

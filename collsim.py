"""collsim's Python API in one place."""

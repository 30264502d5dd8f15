"""Logs of benchmarks that time collectives, one module a format."""

"""Workloads that other tools have written down: execution traces, and tables of layers."""

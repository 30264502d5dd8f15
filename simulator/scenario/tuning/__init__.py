"""Simulated winners as tables that communication libraries choose their algorithms by."""

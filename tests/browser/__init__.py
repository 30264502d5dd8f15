"""Checks in a browser: a package, as its conftest is not the only one."""

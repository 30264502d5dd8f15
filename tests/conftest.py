"""One profile for all property tests: the same examples on every run, and no clock."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("collsim", derandomize=True, deadline=None)
settings.load_profile("collsim")

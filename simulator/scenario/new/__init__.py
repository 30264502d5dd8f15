"""Scenarios for a beginning: complete, with a line on every key, and what is optional as comments."""

from simulator.scenario.new.files import MAKERS, Wish, new_scenario, usual_ranks
from simulator.scenario.new.wishes import fitting

__all__ = ["MAKERS", "Wish", "fitting", "new_scenario", "usual_ranks"]

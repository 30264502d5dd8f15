"""WHEN: plans of timed operations, the engines that run them, and what comes back."""

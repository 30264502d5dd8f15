"""The search for a parallel plan: all that can be laid out and fit, ranked by their simulated steps."""

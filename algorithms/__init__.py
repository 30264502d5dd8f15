"""WHAT: schedules of transfers, their proof, their costs and their bounds."""

"""ASK: what a person writes, read into a frozen `Scenario`."""

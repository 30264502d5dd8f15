"""The first seed document, statement by statement: what it says, and what collsim computes."""

"""The second seed document, statement by statement: what it says, and what collsim derives."""

"""The two documents that this project began with, statement by statement, beside what collsim finds."""

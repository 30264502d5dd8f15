"""What a person types, a module a command; what is slow to import is imported where it is needed."""

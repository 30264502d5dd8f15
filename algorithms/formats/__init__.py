"""Schedules in the files of other tools: one module a format, each with a reader, a writer, or both."""

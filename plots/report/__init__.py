"""The report: runs as one page that needs nothing else, to look at in a browser."""

"""Files of other programs that carry topologies, one module a format."""

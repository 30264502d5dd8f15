"""Files of other programs that carry timelines, one module a format."""

"""A step of training or inference as a graph of tasks: orders of passes, work, and its simulation."""

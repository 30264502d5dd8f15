"""`python -m simulator ...` is `collsim ...`."""

from simulator.cli import main

main()

"""`python -m simulator.seeds.seed2 [FILE]`: write the page, or print it."""

from __future__ import annotations

import sys
from pathlib import Path

from simulator.seeds.seed2.document import document

if __name__ == "__main__":
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(document(), encoding="utf-8")
    else:
        sys.stdout.write(document())

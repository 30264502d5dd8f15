"""Ways to look at a thing, of which a figure shows one."""

from __future__ import annotations

from typing import Literal

View = Literal["auto", "links", "ranks", "levels"]
"""What has a lane in a timeline."""

Colour = Literal["bytes", "busy"]
"""What links have their colours by."""

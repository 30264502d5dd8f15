"""The algorithms themselves, a family a module; each says at its end what the catalogue knows of it."""

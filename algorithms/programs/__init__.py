"""Programs: what the thread blocks of every rank do, instruction by instruction, and the proof of it."""

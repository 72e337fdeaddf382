"""Named faults, and what must be true of a cluster whatever has happened to it (XD-87 to XD-89, HS-67)."""

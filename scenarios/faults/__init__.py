"""Named faults, and what must be true of a cluster whatever has happened to it (XD-87, XD-88, HS-67)."""

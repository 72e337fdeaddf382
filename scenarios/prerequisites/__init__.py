"""What must be there before any of it works: releases, gates, APIs, a driver (PQ)."""

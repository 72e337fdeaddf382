"""A cluster that somebody already has: the suite is a guest there."""

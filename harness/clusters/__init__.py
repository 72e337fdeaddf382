"""Clusters: what a scenario may ask of one, who provides it, who owns it and who removes it."""

"""Clusters of kind: every node a Docker container, every component the real thing."""

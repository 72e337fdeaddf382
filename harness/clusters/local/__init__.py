"""The provider `local`: real components as processes of this host, on a container runtime that pretends."""

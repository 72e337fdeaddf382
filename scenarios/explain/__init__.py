"""`explain` names what is wrong, on a real cluster, for everything that can be (HS-60 to HS-66)."""

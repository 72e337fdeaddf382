"""Whether what happens can be seen, and the advice that follows from it (OB)."""

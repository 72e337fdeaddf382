"""What the clusters have in common that a run starts itself, whichever provider does."""

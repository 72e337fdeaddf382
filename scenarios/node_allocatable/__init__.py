"""Node allocatable resources that claims take: one account for them and for what Pods request (NA)."""

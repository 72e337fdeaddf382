"""dra-e2e: does this cluster really do what the documentation of Dynamic Resource Allocation says?"""

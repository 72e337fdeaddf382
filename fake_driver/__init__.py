"""A DRA driver with simulated GPUs, for tests: real objects, real gRPC, only the hardware is pretended."""

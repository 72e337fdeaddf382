"""The kubelet's gRPC messages, as far as the driver uses them.

`python -m fake_driver.protos.generate` makes the code.
"""

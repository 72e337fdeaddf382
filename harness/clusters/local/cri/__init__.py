"""A container runtime that only pretends its containers, so that real kubelets run without a container engine.

`python -m harness.clusters.local.cri --socket PATH --state DIR` serves the Container Runtime Interface to one kubelet
per socket. Sandboxes and containers have the life cycle, exit codes, logs and start failures of real ones; what a
container does is read off its command (`commands`), so that the same manifest means the same where containers are real.
"""

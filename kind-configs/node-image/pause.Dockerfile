# What Kubernetes asks of a pause container: it holds namespaces until it is killed.
ARG BASE
FROM ${BASE} AS base
FROM scratch
COPY --from=base /bin/busybox /busybox
ENTRYPOINT ["/busybox", "sleep", "infinity"]

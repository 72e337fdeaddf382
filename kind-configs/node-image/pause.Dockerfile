# What Kubernetes asks of a pause container: it holds namespaces until it is killed.
ARG BASE
FROM ${BASE} AS base
LABEL dra-e2e.stage=build
FROM scratch
COPY --from=base /bin/busybox /busybox
ENTRYPOINT ["/busybox", "sleep", "infinity"]

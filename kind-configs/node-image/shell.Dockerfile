# The shell of the suite's own Pods.
ARG BASE
FROM ${BASE} AS files
LABEL dra-e2e.stage=build
RUN mkdir -p /out/bin /out/tmp /out/etc && chmod 1777 /out/tmp && cp /bin/busybox /out/bin/ \
    && for name in $(/bin/busybox --list); do ln -s busybox /out/bin/$name 2>/dev/null || true; done \
    && echo 'root:x:0:0:root:/root:/bin/sh' >/out/etc/passwd
FROM scratch
COPY --from=files /out /
ENV PATH=/bin
CMD ["sh"]

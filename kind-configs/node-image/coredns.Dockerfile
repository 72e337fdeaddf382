FROM scratch
COPY bin/coredns /coredns
ENTRYPOINT ["/coredns"]

# kube-proxy calls iptables: those programs, their extensions and the libraries of both.
ARG BASE
FROM ${BASE} AS files
LABEL dra-e2e.stage=build
RUN set -e; extensions=$(find /usr/lib -path '*/xtables/*.so'); \
    tools="/usr/sbin/xtables-nft-multi /usr/sbin/xtables-legacy-multi /usr/sbin/nft /usr/sbin/conntrack /usr/bin/kmod"; \
    mkdir -p /out/usr/sbin /out/run /out/etc; \
    for file in $tools $extensions $(ldd $tools $extensions | grep -o '/[^ )]*' | grep -v ':$' | sort -u); do \
      mkdir -p "/out/usr$(dirname "${file#/usr}")"; cp -Ln "$file" "/out/usr${file#/usr}"; done; \
    for name in bin sbin lib lib64; do mkdir -p /out/usr/$name; ln -s usr/$name /out/$name; done; \
    for name in iptables ip6tables; do for verb in '' -save -restore; do \
      ln -s xtables-nft-multi /out/usr/sbin/$name$verb; done; done; \
    ln -s ../bin/kmod /out/usr/sbin/modprobe
FROM scratch
COPY --from=files /out /
COPY bin/kube-proxy /usr/local/bin/kube-proxy

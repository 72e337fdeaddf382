# A kind node image of Debian packages and programs at hand, where kindest/node cannot be pulled.
# `make node-image` writes the build context: bin/ (programs), kind/ (the files of kind's own base image), images.tar
# (the images of the components, built from the other files here).
ARG BASE
FROM ${BASE} AS node
LABEL dra-e2e.stage=build
COPY kind/ /
COPY bin/containerd bin/containerd-shim-runc-v2 bin/ctr bin/crictl /usr/local/bin/
COPY bin/kubeadm bin/kubelet bin/kubectl /usr/bin/
COPY bin/host-local bin/loopback bin/portmap bin/ptp /opt/cni/bin/
COPY node/ /
ARG PAUSE
ARG VERSION
# The units of a container: what kind's base image leaves in place, no more.
RUN set -e; find /usr/local/bin /kind/bin -type f -exec chmod 0755 {} +; \
    wants=/lib/systemd/system; \
    rm -f $wants/sysinit.target.wants/systemd-tmpfiles-setup.service $wants/multi-user.target.wants/* \
      /etc/systemd/system/*.wants/* $wants/local-fs.target.wants/* $wants/sockets.target.wants/*udev* \
      $wants/sockets.target.wants/*initctl* $wants/basic.target.wants/*; \
    echo 'ReadKMsg=no' >>/etc/systemd/journald.conf; \
    systemctl enable kubelet.service containerd.service undo-mount-hacks.service; \
    systemctl mask systemd-binfmt.service; \
    mkdir -p /etc/kubernetes/manifests; \
    sed -i "s|registry.k8s.io/pause:[^\"]*|${PAUSE}|" /etc/containerd/config.toml; \
    ctr oci spec | jq 'del(.process.rlimits)' >/etc/containerd/cri-base.json; \
    printf %s "${VERSION}" >/kind/version
# Pinned: the kubelet's garbage collection leaves them alone. Not unpacked: that is for the node that runs them.
COPY images.tar /images.tar
RUN set -e; containerd >/containerd.log 2>&1 & until ctr version >/dev/null 2>&1; do sleep 0.2; done; \
    ctr --namespace=k8s.io images import --label=io.cri-containerd.pinned=pinned --all-platforms --no-unpack \
      --digests /images.tar; \
    kill $!; wait; rm -f /images.tar /containerd.log

# One layer again, without what was deleted.
FROM scratch
COPY --from=node / /
ENV container=docker
STOPSIGNAL SIGRTMIN+3
ENTRYPOINT ["/usr/local/bin/entrypoint", "/sbin/init"]

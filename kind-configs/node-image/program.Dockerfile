# A component that is one program, named as kubeadm's manifests call it.
FROM scratch
ARG PROGRAM
COPY bin/${PROGRAM} /usr/local/bin/${PROGRAM}

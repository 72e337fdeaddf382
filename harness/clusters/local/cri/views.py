"""Records as the messages of the CRI, and which of them a filter lets through."""

from collections.abc import Mapping

from google.protobuf.json_format import MessageToJson

from harness.clusters.local.cri import cri_pb2 as cri
from harness.clusters.local.cri.images import image_id
from harness.clusters.local.cri.state import Container, Sandbox


def sandbox_item(sandbox: Sandbox) -> cri.PodSandbox:
    """The entry of a list."""
    return cri.PodSandbox(
        id=sandbox.id,
        metadata=sandbox.config.metadata,
        state=_sandbox_state(sandbox),
        created_at=sandbox.created_at,
        labels=sandbox.config.labels,
        annotations=sandbox.config.annotations,
        runtime_handler=sandbox.runtime_handler,
    )


def sandbox_status(sandbox: Sandbox) -> cri.PodSandboxStatus:
    """The full status."""
    return cri.PodSandboxStatus(
        id=sandbox.id,
        metadata=sandbox.config.metadata,
        state=_sandbox_state(sandbox),
        created_at=sandbox.created_at,
        network=cri.PodSandboxNetworkStatus(ip=sandbox.ip),
        linux=cri.LinuxPodSandboxStatus(
            namespaces=cri.Namespace(options=sandbox.config.linux.security_context.namespace_options)
        ),
        labels=sandbox.config.labels,
        annotations=sandbox.config.annotations,
        runtime_handler=sandbox.runtime_handler,
    )


def container_item(container: Container) -> cri.Container:
    """The entry of a list."""
    config = container.config
    return cri.Container(
        id=container.id,
        pod_sandbox_id=container.sandbox_id,
        metadata=config.metadata,
        image=config.image,
        image_ref=image_id(config.image.image),
        image_id=image_id(config.image.image),
        state=container.state,
        created_at=container.created_at,
        labels=config.labels,
        annotations=config.annotations,
    )


def container_status(container: Container, log_path: str) -> cri.ContainerStatus:
    """The full status."""
    config = container.config
    return cri.ContainerStatus(
        id=container.id,
        metadata=config.metadata,
        state=container.state,
        created_at=container.created_at,
        started_at=container.started_at,
        finished_at=container.finished_at,
        exit_code=container.exit_code,
        image=config.image,
        image_ref=image_id(config.image.image),
        image_id=image_id(config.image.image),
        reason=container.reason,
        message=container.message,
        labels=config.labels,
        annotations=config.annotations,
        mounts=config.mounts,
        log_path=log_path,
        resources=cri.ContainerResources(linux=config.linux.resources),
    )


def container_info(container: Container, sandbox: Sandbox) -> dict[str, str]:
    """What the kubelet handed over when it made the container and its sandbox, as JSON."""
    return {
        "config": MessageToJson(container.config, preserving_proto_field_name=True, indent=None),
        "sandbox_config": MessageToJson(sandbox.config, preserving_proto_field_name=True, indent=None),
    }


def container_stats(container: Container, now: int) -> cri.ContainerStats:
    """The usage of a process that uses nothing, at `now` in nanoseconds since the epoch."""
    return cri.ContainerStats(
        attributes=cri.ContainerAttributes(
            id=container.id,
            metadata=container.config.metadata,
            labels=container.config.labels,
            annotations=container.config.annotations,
        ),
        cpu=_no_cpu(now),
        memory=_no_memory(now),
    )


def sandbox_stats(sandbox: Sandbox, containers: list[Container], now: int) -> cri.PodSandboxStats:
    """The usage of a Pod whose containers use nothing, at `now` in nanoseconds since the epoch."""
    return cri.PodSandboxStats(
        attributes=cri.PodSandboxAttributes(
            id=sandbox.id,
            metadata=sandbox.config.metadata,
            labels=sandbox.config.labels,
            annotations=sandbox.config.annotations,
        ),
        linux=cri.LinuxPodSandboxStats(
            cpu=_no_cpu(now),
            memory=_no_memory(now),
            containers=[container_stats(container, now) for container in containers],
        ),
    )


def has_labels(labels: Mapping[str, str], selector: Mapping[str, str]) -> bool:
    """Each label of the selector is there with its value."""
    return all(labels.get(key) == value for key, value in selector.items())


def lets_sandbox(wanted: cri.PodSandboxFilter, sandbox: Sandbox) -> bool:
    """The filter lets the sandbox through."""
    return (
        wanted.id in {"", sandbox.id}
        and (not wanted.HasField("state") or wanted.state.state == _sandbox_state(sandbox))
        and has_labels(sandbox.config.labels, wanted.label_selector)
    )


def lets_container(wanted: cri.ContainerFilter, container: Container) -> bool:
    """The filter lets the container through."""
    return (
        wanted.id in {"", container.id}
        and wanted.pod_sandbox_id in {"", container.sandbox_id}
        and (not wanted.HasField("state") or wanted.state.state == container.state)
        and has_labels(container.config.labels, wanted.label_selector)
    )


def _sandbox_state(sandbox: Sandbox) -> cri.PodSandboxState.ValueType:
    return cri.SANDBOX_READY if sandbox.ready else cri.SANDBOX_NOTREADY


def _no_cpu(now: int) -> cri.CpuUsage:
    nothing = cri.UInt64Value()
    return cri.CpuUsage(timestamp=now, usage_core_nano_seconds=nothing, usage_nano_cores=nothing)


def _no_memory(now: int) -> cri.MemoryUsage:
    nothing = cri.UInt64Value()
    return cri.MemoryUsage(timestamp=now, working_set_bytes=nothing, usage_bytes=nothing, rss_bytes=nothing)

"""RuntimeService: the CRI's calls about sandboxes and containers, in terms of a Node."""

import asyncio
import time
from collections.abc import AsyncIterator

from harness.clusters.local.cri import commands, logs, views
from harness.clusters.local.cri import cri_pb2 as cri
from harness.clusters.local.cri.errors import CallError, DeadlineError, NotFoundError, UnimplementedError
from harness.clusters.local.cri.node import Node, environment
from harness.clusters.local.cri.state import Container

_NAME = "dra-e2e-pretend"


class RuntimeService:
    """Answers for the sandboxes and containers of one node."""

    def __init__(self, node: Node) -> None:
        self._node = node

    async def version(self, _request: cri.VersionRequest) -> cri.VersionResponse:
        """Name and versions."""
        return cri.VersionResponse(
            version="0.1.0", runtime_name=_NAME, runtime_version="1.0.0", runtime_api_version="v1"
        )

    async def status(self, _request: cri.StatusRequest) -> cri.StatusResponse:
        """Runtime and network are always ready."""
        ready = [cri.RuntimeCondition(type=name, status=True) for name in ("RuntimeReady", "NetworkReady")]
        return cri.StatusResponse(status=cri.RuntimeStatus(conditions=ready))

    async def runtime_config(self, _request: cri.RuntimeConfigRequest) -> cri.RuntimeConfigResponse:
        """The cgroup driver that needs no systemd."""
        return cri.RuntimeConfigResponse(linux=cri.LinuxRuntimeConfiguration(cgroup_driver=cri.CGROUPFS))

    async def update_runtime_config(self, _request: cri.UpdateRuntimeConfigRequest) -> cri.UpdateRuntimeConfigResponse:
        """The node's Pod network is taken note of by real runtimes; Pods here have addresses anyway."""
        return cri.UpdateRuntimeConfigResponse()

    async def run_pod_sandbox(self, request: cri.RunPodSandboxRequest) -> cri.RunPodSandboxResponse:
        """A new sandbox."""
        sandbox = self._node.run_sandbox(request.config, request.runtime_handler)
        return cri.RunPodSandboxResponse(pod_sandbox_id=sandbox.id)

    async def stop_pod_sandbox(self, request: cri.StopPodSandboxRequest) -> cri.StopPodSandboxResponse:
        """Idempotent."""
        await self._node.stop_sandbox(request.pod_sandbox_id)
        return cri.StopPodSandboxResponse()

    async def remove_pod_sandbox(self, request: cri.RemovePodSandboxRequest) -> cri.RemovePodSandboxResponse:
        """Idempotent."""
        await self._node.remove_sandbox(request.pod_sandbox_id)
        return cri.RemovePodSandboxResponse()

    async def pod_sandbox_status(self, request: cri.PodSandboxStatusRequest) -> cri.PodSandboxStatusResponse:
        """The sandbox alone. Without a timestamp the kubelet asks for each container by itself, whatever its gates."""
        return cri.PodSandboxStatusResponse(status=views.sandbox_status(self._node.sandbox(request.pod_sandbox_id)))

    async def list_pod_sandbox(self, request: cri.ListPodSandboxRequest) -> cri.ListPodSandboxResponse:
        """Those that the filter lets through."""
        found = (sandbox for sandbox in self._node.sandboxes.values() if views.lets_sandbox(request.filter, sandbox))
        return cri.ListPodSandboxResponse(items=map(views.sandbox_item, found))

    async def update_pod_sandbox_resources(
        self, request: cri.UpdatePodSandboxResourcesRequest
    ) -> cri.UpdatePodSandboxResourcesResponse:
        """Keeps the new resources."""
        sandbox = self._node.sandbox(request.pod_sandbox_id)
        sandbox.config.linux.overhead.CopyFrom(request.overhead)
        sandbox.config.linux.resources.CopyFrom(request.resources)
        self._node.update(sandbox)
        return cri.UpdatePodSandboxResourcesResponse()

    async def create_container(self, request: cri.CreateContainerRequest) -> cri.CreateContainerResponse:
        """A new container."""
        return cri.CreateContainerResponse(container_id=self._node.create(request.pod_sandbox_id, request.config).id)

    async def start_container(self, request: cri.StartContainerRequest) -> cri.StartContainerResponse:
        """Fails where a real runtime would not find the program."""
        self._node.start(request.container_id)
        return cri.StartContainerResponse()

    async def stop_container(self, request: cri.StopContainerRequest) -> cri.StopContainerResponse:
        """Returns when the container has exited."""
        await self._node.stop(request.container_id, request.timeout)
        return cri.StopContainerResponse()

    async def remove_container(self, request: cri.RemoveContainerRequest) -> cri.RemoveContainerResponse:
        """Idempotent."""
        await self._node.remove(request.container_id)
        return cri.RemoveContainerResponse()

    async def list_containers(self, request: cri.ListContainersRequest) -> cri.ListContainersResponse:
        """Those that the filter lets through."""
        found = (item for item in self._node.containers.values() if views.lets_container(request.filter, item))
        return cri.ListContainersResponse(containers=map(views.container_item, found))

    async def container_status(self, request: cri.ContainerStatusRequest) -> cri.ContainerStatusResponse:
        """The status, and if asked `verbose` what the kubelet handed over."""
        container = self._node.container(request.container_id)
        sandbox = self._node.sandbox(container.sandbox_id)
        info = views.container_info(container, sandbox) if request.verbose else None
        return cri.ContainerStatusResponse(status=self._container_status(container), info=info)

    async def update_container_resources(
        self, request: cri.UpdateContainerResourcesRequest
    ) -> cri.UpdateContainerResourcesResponse:
        """Keeps the resources that the request names; the others stay."""
        container = self._node.container(request.container_id)
        container.config.linux.resources.MergeFrom(request.linux)
        self._node.update(container)
        return cri.UpdateContainerResourcesResponse()

    async def reopen_container_log(self, request: cri.ReopenContainerLogRequest) -> cri.ReopenContainerLogResponse:
        """A fresh file in place of the rotated one."""
        container = self._node.container(request.container_id)
        if log := logs.path(self._node.sandbox(container.sandbox_id), container):
            logs.create(log)
        return cri.ReopenContainerLogResponse()

    async def exec_sync(self, request: cri.ExecSyncRequest) -> cri.ExecSyncResponse:
        """Plays the command beside the container's own. One that is not understood is refused, never guessed."""
        container = self._node.container(request.container_id)
        if container.state != cri.CONTAINER_RUNNING:
            raise NotFoundError(f"container {container.id!r} is not running")
        try:
            program = commands.parse(request.cmd, environment(container))
        except commands.StartError as problem:
            raise CallError(f"failed to exec in container: {problem}") from problem
        if program.endless:
            raise UnimplementedError(f"a pretended container cannot exec {' '.join(request.cmd)!r}")
        output: list[str] = []
        playing = asyncio.wait_for(program.play(time.time(), output.append), request.timeout or None)
        try:
            await playing
        except TimeoutError:
            raise DeadlineError(f"command timed out after {request.timeout} s") from None
        stdout = "".join(f"{line}\n" for line in output)
        return cri.ExecSyncResponse(stdout=stdout.encode(), exit_code=program.exit_code)

    async def container_stats(self, request: cri.ContainerStatsRequest) -> cri.ContainerStatsResponse:
        """Of one container."""
        container = self._node.container(request.container_id)
        return cri.ContainerStatsResponse(stats=views.container_stats(container, time.time_ns()))

    async def list_container_stats(self, request: cri.ListContainerStatsRequest) -> cri.ListContainerStatsResponse:
        """Of all running containers that the filter lets through."""
        wanted = cri.ContainerFilter(
            id=request.filter.id,
            pod_sandbox_id=request.filter.pod_sandbox_id,
            label_selector=request.filter.label_selector,
            state=cri.ContainerStateValue(state=cri.CONTAINER_RUNNING),
        )
        found = (item for item in self._node.containers.values() if views.lets_container(wanted, item))
        now = time.time_ns()
        return cri.ListContainerStatsResponse(stats=[views.container_stats(container, now) for container in found])

    async def pod_sandbox_stats(self, request: cri.PodSandboxStatsRequest) -> cri.PodSandboxStatsResponse:
        """Of one Pod."""
        sandbox = self._node.sandbox(request.pod_sandbox_id)
        containers = self._node.containers_of(sandbox.id)
        return cri.PodSandboxStatsResponse(stats=views.sandbox_stats(sandbox, containers, time.time_ns()))

    async def list_pod_sandbox_stats(self, request: cri.ListPodSandboxStatsRequest) -> cri.ListPodSandboxStatsResponse:
        """Of all ready Pods that the filter lets through."""
        wanted = cri.PodSandboxFilter(
            id=request.filter.id,
            label_selector=request.filter.label_selector,
            state=cri.PodSandboxStateValue(state=cri.SANDBOX_READY),
        )
        found = (sandbox for sandbox in self._node.sandboxes.values() if views.lets_sandbox(wanted, sandbox))
        now = time.time_ns()
        return cri.ListPodSandboxStatsResponse(
            stats=[views.sandbox_stats(sandbox, self._node.containers_of(sandbox.id), now) for sandbox in found]
        )

    async def list_metric_descriptors(
        self, _request: cri.ListMetricDescriptorsRequest
    ) -> cri.ListMetricDescriptorsResponse:
        """None."""
        return cri.ListMetricDescriptorsResponse()

    async def list_pod_sandbox_metrics(
        self, _request: cri.ListPodSandboxMetricsRequest
    ) -> cri.ListPodSandboxMetricsResponse:
        """None."""
        return cri.ListPodSandboxMetricsResponse()

    async def get_container_events(self, _request: cri.GetEventsRequest) -> AsyncIterator[cri.ContainerEventResponse]:
        """Every change of a container's state, and every stop of a sandbox, from now on."""
        async for kind, subject, sandbox in self._node.events():
            yield cri.ContainerEventResponse(
                container_id=subject,
                container_event_type=kind,
                created_at=time.time_ns(),
                pod_sandbox_status=views.sandbox_status(sandbox),
                containers_statuses=map(self._container_status, self._node.containers_of(sandbox.id)),
            )

    def _container_status(self, container: Container) -> cri.ContainerStatus:
        log = logs.path(self._node.sandbox(container.sandbox_id), container)
        return views.container_status(container, str(log or ""))

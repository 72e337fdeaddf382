"""A look into containers, and at the control groups of their node, from inside the cluster: no provider is asked."""

from dataclasses import dataclass

from kubernetes import config
from kubernetes.client import CoreV1Api
from kubernetes.stream import stream

from harness.kube.builders import pod
from harness.kube.predicates import running
from harness.plugin.scenario import Object, Scenario
from scenarios.node_allocatable.cgroups import FILES, ControlGroup, directories, parse

#: Where the observer has the control groups of its node.
_ROOT = "/node-cgroup"


def run(scenario: Scenario, where: Object, *command: str, container: str = "main") -> str:
    """What a command in a running container writes. The command's exit code is not looked at."""
    connection = config.new_client_from_config(str(scenario.cluster.kubeconfig))  # type: ignore[no-untyped-call]
    api = CoreV1Api(connection)
    meta = where["metadata"]
    written: str = stream(
        api.connect_get_namespaced_pod_exec,
        meta["name"],
        meta["namespace"],
        container=container,
        command=list(command),
        stdin=False,
        stdout=True,
        stderr=True,
        tty=False,
    )
    return written


def oom_score_adj(scenario: Scenario, of: Object, container: str = "main") -> int:
    """`oom_score_adj` of a container's first process."""
    return int(run(scenario, of, "cat", "/proc/1/oom_score_adj", container=container))


@dataclass(frozen=True)
class Observer:
    """A Pod on a node that sees the control groups of all Pods there."""

    scenario: Scenario
    pod: Object

    @classmethod
    def on(cls, scenario: Scenario, node: str) -> "Observer":
        """Start one on that node."""
        wanted = pod("observer", on=node)
        wanted["spec"]["volumes"] = [{"name": "cgroup", "hostPath": {"path": "/sys/fs/cgroup", "type": "Directory"}}]
        mount = {"name": "cgroup", "mountPath": _ROOT, "readOnly": True}
        wanted["spec"]["containers"][0]["volumeMounts"] = [mount]
        return cls(scenario, scenario.wait(scenario.create(wanted), running()))

    def of_pod(self, watched: Object) -> ControlGroup:
        """The control group of a Pod on the observer's node. Raises LookupError when there is none."""
        return self._read(*directories(watched["metadata"]["uid"]))

    def of_container(self, watched: Object, container: str = "main") -> ControlGroup:
        """The control group of a container of a running Pod. Raises LookupError when there is none."""
        (status,) = [found for found in watched["status"]["containerStatuses"] if found["name"] == container]
        identifier = status["containerID"].partition("://")[2]
        return self._read(*directories(watched["metadata"]["uid"], identifier))

    def _read(self, *names: str) -> ControlGroup:
        found = " -o ".join(f"-name '{name}'" for name in names)
        files = " ".join(f'"$directory"/{name}' for name in FILES)
        script = (
            f"find {_ROOT} -type d \\( {found} \\) | while read -r directory; do "
            f'for file in {files}; do [ -f "$file" ] && echo "$file $(cat "$file")"; done; done'
        )
        lines = run(self.scenario, self.pod, "sh", "-c", script).splitlines()
        return parse(dict(line.split(" ", 1) for line in lines))

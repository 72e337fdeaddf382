"""ImageService: every image is on the node, except those of a registry that by its name cannot exist (`*.invalid`)."""

import hashlib
import shutil
import time
from pathlib import Path

from harness.clusters.local.cri import cri_pb2 as cri
from harness.clusters.local.cri.errors import NotFoundError

_SIZE = 1 << 20  # the kubelet takes an image without a size for a broken one


def image_id(image: str) -> str:
    """The id of an image by its name, or the id itself: the kubelet asks by both."""
    return image if image.startswith("sha256:") else f"sha256:{hashlib.sha256(image.encode()).hexdigest()}"


class ImageService:
    """Answers for the images of one node; `directory` stands for the file system they would be on."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    async def list_images(self, _request: cri.ListImagesRequest) -> cri.ListImagesResponse:
        """None by name: what is on every node needs no clean-up and makes no node better than another."""
        return cri.ListImagesResponse()

    async def image_status(self, request: cri.ImageStatusRequest) -> cri.ImageStatusResponse:
        """The image, or an empty answer where it would have to be pulled."""
        name = request.image.image
        if _unreachable(name):
            return cri.ImageStatusResponse()
        tags = [] if name.startswith("sha256:") else [name]
        return cri.ImageStatusResponse(
            image=cri.Image(id=image_id(name), repo_tags=tags, size=_SIZE, spec=cri.ImageSpec(image=name))
        )

    async def pull_image(self, request: cri.PullImageRequest) -> cri.PullImageResponse:
        """The image's id. Raises NotFoundError where its registry cannot exist."""
        name = request.image.image
        if _unreachable(name):
            host = name.partition("/")[0]
            raise NotFoundError(f'failed to pull and unpack image "{name}": lookup {host}: no such host')
        return cri.PullImageResponse(image_ref=image_id(name))

    async def remove_image(self, _request: cri.RemoveImageRequest) -> cri.RemoveImageResponse:
        """Nothing is there to remove."""
        return cri.RemoveImageResponse()

    async def image_fs_info(self, _request: cri.ImageFsInfoRequest) -> cri.ImageFsInfoResponse:
        """The usage of the file system that holds the node's state."""
        usage = cri.FilesystemUsage(
            timestamp=time.time_ns(),
            fs_id=cri.FilesystemIdentifier(mountpoint=str(self._directory)),
            used_bytes=cri.UInt64Value(value=shutil.disk_usage(self._directory).used),
            inodes_used=cri.UInt64Value(value=1),
        )
        return cri.ImageFsInfoResponse(image_filesystems=[usage], container_filesystems=[usage])


def _unreachable(name: str) -> bool:
    registry, slash, _ = name.partition("/")
    return bool(slash) and registry.partition(":")[0].endswith(".invalid")

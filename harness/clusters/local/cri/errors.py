"""What a call answers when it fails: a status, whose text is the kubelet's error message."""

import grpc


class CallError(Exception):
    """The call failed in a way that the kubelet does not tell from others."""

    code = grpc.StatusCode.UNKNOWN


class NotFoundError(CallError):
    """No sandbox, container or image of this name."""

    code = grpc.StatusCode.NOT_FOUND


class DeadlineError(CallError):
    """The command ran longer than the call allows."""

    code = grpc.StatusCode.DEADLINE_EXCEEDED


class UnimplementedError(CallError):
    """A container that only pretends cannot do this."""

    code = grpc.StatusCode.UNIMPLEMENTED

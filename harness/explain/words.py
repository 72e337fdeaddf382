"""Causes that only the scheduler's own words tell."""

import re

from harness.explain.messages import Word, last_word, short
from harness.explain.model import Finding
from harness.kube.resources import Obj

#: Text in the last word, cause, sentence, remedy. The last group of the text, if any, is put into the sentence.
_TEXTS = (
    (
        r"resource claim (\S+) is in the process of being allocated",
        "claim-being-allocated",
        "claim {} is being allocated for another Pod at this moment",
        "wait: the Pod is tried again when that is done",
    ),
    (
        r"node allocatable resource claim (\S+) has a mapped device and cannot be shared across pods",
        "mapped-claim-shared",
        "claim {} has a device that stands for node resources, and another Pod uses it: it cannot be shared",
        "give the Pod a claim of its own",
    ),
    (
        r"(pod level (?:request|limit) for [^.]*? is insufficient to cover [^.,]*)",
        "pod-level-resources",
        "the Pod's own resources do not cover its containers and devices: {}",
        "raise spec.resources of the Pod by what its devices take",
    ),
    (
        r"node (\S+): timed out trying to allocate devices",
        "filter-timeout",
        "the scheduler ran out of time when it looked for devices on node {}",
        "simplify the claim's selectors and constraints, or raise filterTimeout of the plugin DynamicResources",
    ),
    (
        r"(selector #\d+ on device .*?: CEL runtime error.*)",
        "cel-error",
        "a selector fails: {}",
        "make the selector test whether the attribute is there before it uses it (in a new claim or the class)",
    ),
    (
        r"(adding \d+ devices exceeds the claim limit of \d+)",
        "claim-too-large",
        "a claim asks for more devices than it can have: {}",
        "spread the devices over several claims",
    ),
    (
        r"claim (\S+ got (?:de)?allocated elsewhere in the meantime)",
        "claim-contended",
        "another Pod was faster: claim {}",
        "wait: the Pod is tried again by itself",
    ),
    (
        r"(rejected due to timeout after waiting \S+ at plugin GangScheduling)",
        "group-timeout",
        "the rest of the Pod's group found no place in time: {}",
        "make room for the whole group",
    ),
    (
        r"(add(?: allocation and)? reservation to claim .*)",
        "reservation-refused",
        "the claim could not be reserved for the Pod: {}",
        "see what the API server says; a claim can have 256 consumers",
    ),
)


def said(pod: Obj) -> list[Finding]:
    """What the last word about the Pod names as a cause."""
    word = last_word(pod)
    return [
        Finding(cause, sentence.format(short(found[1], 240)), (word.fact,), remedy)
        for text, cause, sentence, remedy in _TEXTS
        if (found := re.search(text, word.message, re.DOTALL))
    ]


def nominated(pod: Obj) -> list[Finding]:
    """Room is being made for the Pod.

    A Pod whose binding failed has the name of a node, too (it stays on 1.35): it needs no room, and ends in an error.
    """
    node = (pod.get("status") or {}).get("nominatedNodeName")
    if not node or last_word(pod).reason == "SchedulerError":
        return []
    fact = f"status.nominatedNodeName is {node}"
    return [Finding("preempting", f"waiting for Pods on node {node} to end, which make room for it", (fact,))]


def unexplained(pod: Obj) -> list[Finding]:
    """The scheduler's word as it is, where nothing here says more."""
    word: Word = last_word(pod)
    if not word.reason:
        return []
    if "cannot allocate all claims" in word:
        return [
            Finding(
                "awaiting-retry",
                "the devices that the Pod asks for can be had now; the scheduler has not tried again yet",
                (word.fact,),
                "wait: it tries again after a change, or at the latest after five minutes",
            )
        ]
    return [Finding("unschedulable", f"the scheduler says: {short(word.message)}", (word.fact,))]

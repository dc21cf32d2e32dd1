"""Which site or link of a robot file carries the tool: one with a usual name, or the last one before a gripper.

A gripper is recognised by its joints. Fingers branch, slide in pairs, follow one another (mimic joints), or have names
such as finger and jaw; and nothing but further fingers moves beyond them.
"""

# MuJoCo is a compiled module without type information.

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import mujoco

# Usual names, the most specific first. Frames at the flange come before tool centre points, which are beyond a gripper.
_USUAL = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        *("tool", "tool0", "attachment_site", "tcp"),
        *(r".*[_/-]tool0", r".*[_/-]attachment_site", r".*flange.*", r".*link[_-]?8"),
        *(r"(.*[_/-])?(ee|eef|end_?effector)", r"ee.*", r"(.*[_/-])?(ee|eef|end_?effector)[_/-].*"),
        *(r".*[_/-]tcp", r".*[_/-]tool"),
    )
)
_FINGER = re.compile("finger|jaw|knuckle|thumb|claw|pincer", re.IGNORECASE)
_GRIPPER_JOINT = re.compile("grip|finger|jaw|knuckle|thumb|claw|pincer", re.IGNORECASE)
_WRIST_JOINT = re.compile("rot|roll|yaw|pitch|wrist|axis", re.IGNORECASE)
_SENSOR = re.compile("camera|optical|sensor|imu|lidar", re.IGNORECASE)
# A hand's fingers have at most so many joints each and differ by at most one; below so many joints there is no hand.
_FINGER_JOINTS, _ARM_JOINTS = 4, 3


@dataclass(frozen=True)
class Flange:
    """The frame that carries the tool, and how it was found."""

    name: str
    """Name of the site or link."""
    body: str
    """Name of the link that it belongs to: the same, unless it is a site."""
    joints: tuple[str, ...]
    """Joints that move it, from the base."""
    gripper: tuple[str, ...] = ()
    """Joints beyond it that were taken for those of a gripper."""

    @property
    def is_site(self) -> bool:
        """Whether it is a site of an MJCF file, not a link."""
        return self.name != self.body


class Tree:
    """The links of a spec: parents before children, each with its joints. Links without a name get one."""

    def __init__(self, spec: mujoco.MjSpec) -> None:
        bodies = list(spec.bodies)
        for i, body in enumerate(bodies):
            body.name = body.name or f"unnamed_{i}"
        self.names: list[str] = [body.name for body in bodies]
        index = {name: i for i, name in enumerate(self.names)}
        self.parent = [-1 if body.parent is None else index[body.parent.name] for body in bodies]
        for joint in spec.joints:
            joint.name = joint.name or f"joint_of_{joint.parent.name}"
        self.joints: list[list[str]] = [[joint.name for joint in body.joints] for body in bodies]
        slides = mujoco.mjtJoint.mjJNT_SLIDE
        self.slides = [bool(body.joints) and all(joint.type == slides for joint in body.joints) for body in bodies]
        self.sites = {site.name: index[site.parent.name] for site in spec.sites if site.name}

    def line(self, body: int) -> list[int]:
        """The links from `body` down to the world, without the world."""
        found = []
        while body > 0:
            found.append(body)
            body = self.parent[body]
        return found

    def chain(self, body: int) -> list[str]:
        """The joints that move a link, from the base."""
        return [joint for b in reversed(self.line(body)) for joint in self.joints[b]]

    def mover(self, body: int) -> int:
        """The link with a joint that moves `body`; 0 if nothing does."""
        return next((b for b in self.line(body) if self.joints[b]), 0)


def find_flange(tree: Tree, coupled: Iterable[tuple[str, str]], name: str | None) -> Flange | None:
    """The frame that carries the tool: `name`, or what `Flange` describes. None: there is no such name.

    `coupled` are pairs of joints of which one follows the other.
    """
    grippers = _grippers(tree, list(coupled))
    if name is not None:
        if name not in tree.sites and name not in tree.names:
            return None
        return _flange(tree, name, tree.sites.get(name, -1) if name in tree.sites else tree.names.index(name), grippers)
    found = _usual(tree, grippers, tree.sites.items())
    links = [(link, i) for i, link in enumerate(tree.names) if i and not _moves_on(tree, i, grippers)]
    found = found or _usual(tree, grippers, links)
    if found is None:
        last = _last_link(tree, grippers)
        found = tree.names[last], last
    return _flange(tree, *found, grippers)


def _flange(tree: Tree, name: str, body: int, grippers: set[int]) -> Flange:
    beyond = [joint for b in sorted(grippers) if tree.mover(body) in tree.line(b)[1:] for joint in tree.joints[b]]
    return Flange(name, tree.names[body], tuple(tree.chain(body)), tuple(beyond))


def _usual(tree: Tree, grippers: set[int], frames: Iterable[tuple[str, int]]) -> tuple[str, int] | None:
    """The frame with the most usual name, of those that joints of an arm move and joints of a gripper do not."""
    ranked = []
    for order, (name, body) in enumerate(frames):
        line = tree.line(body)
        rank = next((i for i, pattern in enumerate(_USUAL) if pattern.fullmatch(name)), None)
        if rank is not None and tree.mover(body) and not grippers.intersection(line):
            ranked.append((rank, -len(tree.chain(body)), order, name, body))
    return min(ranked)[3:] if ranked else None


def _moves_on(tree: Tree, body: int, grippers: set[int]) -> bool:
    """Whether further joints of an arm come after a link."""
    return any(
        tree.joints[b] and b != body and b not in grippers and body in tree.line(b)
        for b in range(body, len(tree.names))
    )


def _last_link(tree: Tree, grippers: set[int]) -> int:
    """The link that carries the gripper of the longest chain; without one, the last link of that chain."""
    movers = [b for b in range(1, len(tree.names)) if tree.joints[b] and b not in grippers]
    if not movers:
        return 0
    last = max(movers, key=lambda b: (len(tree.chain(b)), -b))
    fixed = [b for b in range(last, len(tree.names)) if tree.mover(b) == last]
    bearers = [tree.line(tree.parent[b]) for b in grippers if tree.parent[b] in fixed]
    if bearers:
        return next(b for b in bearers[0] if all(b in line for line in bearers))
    return max(fixed, key=lambda b: (not _SENSOR.search(tree.names[b]), len(tree.line(b)), -b))


# ---- grippers ------------------------------------------------------------------------------------------------------


def _grippers(tree: Tree, coupled: list[tuple[str, str]]) -> set[int]:
    """The links that joints of a gripper move; none if no other joint were left, as for a hand alone."""
    movers = [b for b in range(1, len(tree.names)) if tree.joints[b]]
    above = {b: tree.mover(tree.parent[b]) for b in movers}
    kids: dict[int, list[int]] = defaultdict(list)
    for b in movers:
        kids[above[b]].append(b)
    found: set[int] = set()
    for parent, branches in list(kids.items()):
        found |= _fingers(tree, kids, parent, branches)
    owner = {joint: b for b in movers for joint in tree.joints[b]}
    pairs = [(owner[a], owner[b]) for a, b in coupled if a in owner and b in owner]
    before = -1
    while len(found) > before:
        before = len(found)
        for b in reversed(movers):
            if all(kid in found for kid in kids[b]) and (
                _is_named(tree, b) or _is_coupled(tree, above, pairs, found, b)
            ):
                found.add(b)
    return found if len(found) < len(movers) else set()


def _fingers(tree: Tree, kids: dict[int, list[int]], parent: int, branches: list[int]) -> set[int]:
    """What branches off a link like fingers: a pair that slides, or several short branches of like length."""
    if parent == 0:
        return set()
    slides = [b for b in branches if tree.slides[b] and not kids[b]]
    found = set(slides) if len(slides) > 1 else set()
    long = [_depth(tree, kids, b) for b in branches]
    like = len(branches) > 1 and max(long) <= _FINGER_JOINTS and max(long) - min(long) <= 1
    if like and len(tree.chain(parent)) >= _ARM_JOINTS:
        found |= {b for b in range(len(tree.names)) if tree.joints[b] and set(branches).intersection(tree.line(b))}
    return found


def _depth(tree: Tree, kids: dict[int, list[int]], b: int) -> int:
    return len(tree.joints[b]) + max((_depth(tree, kids, kid) for kid in kids[b]), default=0)


def _is_named(tree: Tree, b: int) -> bool:
    if any(_WRIST_JOINT.search(joint) for joint in tree.joints[b]):
        return False
    return bool(_FINGER.search(tree.names[b])) or any(_GRIPPER_JOINT.search(joint) for joint in tree.joints[b])


def _is_coupled(tree: Tree, above: dict[int, int], pairs: list[tuple[int, int]], found: set[int], b: int) -> bool:
    """Whether a joint follows one of the gripper's, or one next to it; a linkage in series does not count."""
    for one, other in pairs:
        if b not in (one, other) or one == other:
            continue
        peer = other if b == one else one
        if peer in found or above[peer] == above[b]:
            return True
    return False

"""The bridge to ROS 2 for the command line: who would follow, whether that is wanted, and what a user should know."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pliant.bridge.followers import followers
from pliant.bridge.start import bridged
from pliant.bridge.topics import command_topics
from pliant.cli.show import err, may_it_move, out
from pliant.ros2.network import check_settings, domain_id, resolved
from pliant.runtime.mission_link import MissionSession
from pliant.runtime.mission_task import MissionTask
from pliant.runtime.session import Session
from pliant.runtime.task import Task


def check_ros2() -> None:
    """Raise if ROS 2 cannot be spoken to from here, before anything starts."""
    import pliant.ros2.node  # noqa: F401 (it says what is missing)

    check_settings()


def may_follow(task: Task | MissionTask, *, yes: bool) -> bool:
    """Whether commands go out to whoever listens. Where someone does already, the user is asked, unless `yes`.

    To an arm that would jump to where this one begins, they do not go out.
    """
    heard, elsewhere = followers(task)
    if elsewhere and (yes or heard):
        err.print(f"Commands are held back, also with --yes: {elsewhere}")
        return False
    if yes or not heard:
        return yes
    jumps = resolved(task.ros2.trajectory, task.ros2.node, task.ros2.namespace) in heard
    at_once = " An arm goes to the first position at once, from wherever it stands." if jumps else ""
    err.print(f"Someone listens on {' and '.join(heard)}, and would move with this robot.{at_once}")
    return bool(may_it_move())


@contextmanager
def bridge(session: Session | MissionSession, *, agreed: bool) -> Iterator[None]:
    """The bridge beside a loop, and what a user should know of it."""
    config = session.task.ros2
    out.print(f"ROS 2: node {resolved(config.node, config.node, config.namespace)} in domain {domain_id()}.")
    names = [resolved(topic.name, config.node, config.namespace) for topic in command_topics(session.task)]
    if names and agreed:
        out.print(f"Commands go out on {' and '.join(names)}: an arm or a base that listens there follows.")
    elif names:
        out.print(f"Commands on {' and '.join(names)} are held back: who listens there would follow. --yes lets it.")
    with bridged(session, agreed=agreed, say=err.print):
        yield

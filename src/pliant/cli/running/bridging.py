"""The ROS 2 bridge for the command line: who would follow the commands, whether that is wanted, and what is printed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pliant.bridge.command_followers import followers
from pliant.bridge.published_topics import command_topics
from pliant.bridge.starting import bridged
from pliant.cli.show import err, may_it_move, out
from pliant.mobile.mission.mission_link import MissionSession
from pliant.mobile.mission.mission_task import MissionTask
from pliant.ros2.network import check_settings, domain_id, resolved
from pliant.session.session import Session
from pliant.task.schema import Task


def check_ros2() -> None:
    """Raise before anything starts if ROS 2 cannot be used on this machine."""
    import pliant.ros2.node  # noqa: F401 (it reports what is missing)

    check_settings()


def may_follow(task: Task | MissionTask, *, yes: bool) -> bool:
    """Whether commands are published. If there are subscribers already, the user is asked, unless `yes`.

    Commands are never published to an arm that would jump to the start of this one.
    """
    heard, elsewhere = followers(task)
    if elsewhere and (yes or heard):
        err.print(f"Commands are withheld, even with --yes: {elsewhere}")
        return False
    if yes or not heard:
        return yes
    jumps = resolved(task.ros2.trajectory, task.ros2.node, task.ros2.namespace) in heard
    at_once = " An arm moves to the first position at once, from wherever it is." if jumps else ""
    err.print(f"Subscribers on {' and '.join(heard)} would move with this robot.{at_once}")
    return bool(may_it_move())


@contextmanager
def bridge(session: Session | MissionSession, *, agreed: bool) -> Iterator[None]:
    """Run the bridge next to a loop, and print which topics it uses."""
    config = session.task.ros2
    out.print(f"ROS 2: node {resolved(config.node, config.node, config.namespace)} in domain {domain_id()}.")
    names = [resolved(topic.name, config.node, config.namespace) for topic in command_topics(session.task)]
    if names and agreed:
        out.print(f"Commands are published on {' and '.join(names)}. Any arm or base that subscribes follows them.")
    elif names:
        out.print(
            f"Commands on {' and '.join(names)} are withheld: subscribers would follow them. Use --yes to publish."
        )
    with bridged(session, agreed=agreed, say=err.print):
        yield

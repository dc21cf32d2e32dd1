"""``python -m pliant.bridge.services <board>``: ROS 2 services and parameters, if `rclpy` can be imported.

Every command of the bridge is also a `std_srvs/Trigger` service, and every live parameter of the loop is a parameter of
this node: `ros2 param set /pliant_services admittance.stiffness "[400.0]"`. Services need `rclpy`, because matching a
reply to its request depends on the ROS middleware, not on DDS.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from pliant.bridge.helper_process import helper_main
from pliant.bridge.request_order import Turns, is_stop
from pliant.bridge.requests import Requests, known_words
from pliant.errors import PliantError
from pliant.params.declare import declared, flat
from pliant.params.matrix import compact
from pliant.ros2.network import resolved
from pliant.session.link import Link, attach

# How often the loop is checked, and parameters that others have changed are adopted [s].
_LOOK_S = 0.2
# How many requests can be received at a time, and how long the last ones may take at the end [s].
_THREADS, _END_S = 8, 2.0


def to_ros(value: Any) -> Any:
    """A parameter in the form that ROS stores: a diagonal matrix as its diagonal, a full one as its 36 numbers."""
    value = compact(value)
    if isinstance(value, bool | str):
        return value
    if isinstance(value, int | float):
        return float(value)
    items = np.ravel(np.array(value)).tolist()
    return [bool(item) for item in items] if isinstance(items[0], bool) else [float(item) for item in items]


def from_ros(value: Any) -> Any:
    """The value of a ROS parameter for the loop; a list of one number sets all of them."""
    if isinstance(value, bool | int | float | str) or value is None:
        return value
    items = tuple(value)
    if len(items) == 1:
        return items[0]
    return tuple(items[i : i + 6] for i in range(0, 36, 6)) if len(items) == 36 else items


class Services:
    """The `rclpy` node of the bridge."""

    def __init__(self, link: Link, rclpy: Any) -> None:
        self.link, self._requests, config = link, Requests(link), link.task.ros2
        self._revision, self._own = -1, False
        self.node = rclpy.create_node(f"{config.node}_services", namespace=config.namespace)
        self._result = import_module("rcl_interfaces.msg").SetParametersResult
        self._parameter = import_module("rclpy.parameter").Parameter
        self._turns, groups = Turns(), import_module("rclpy.callback_groups")
        # a busy service receives nothing: requests that may have to wait are received while others wait
        stops, others = groups.MutuallyExclusiveCallbackGroup(), groups.ReentrantCallbackGroup()
        trigger = import_module("std_srvs.srv").Trigger
        for word in known_words():
            name, group = resolved(f"~/{word}", config.node, config.namespace), stops if is_stop(word) else others
            self.node.create_service(trigger, name, self._obey(word), callback_group=group)
        self._declare()
        self.node.add_on_set_parameters_callback(self._change)
        self.node.create_timer(_LOOK_S, self.follow)  # in the group of the parameters: one at a time

    def _obey(self, word: str) -> Any:
        def call(_: Any, response: Any) -> Any:
            if is_stop(word):
                response.success, response.message = self._turns.at_once(self._requests.obey, word)
            else:
                stops = self._turns.stops
                response.success, response.message = self._turns.in_turn(word, self._requests.obey, word, stops)
            return response

        return call

    def _declare(self) -> None:
        describe = import_module("rcl_interfaces.msg").ParameterDescriptor
        values = flat(self.link.parameters)
        for item in declared(type(self.link.task.params)):
            if item.live:
                # with a fixed type, the middleware would reject 400 for 400.0 with a message of its own
                about = describe(description=f"{item.help} [{item.unit}]", dynamic_typing=True)
                self.node.declare_parameter(item.name, to_ros(values[item.name]), about)
        self._revision = self.link.board.adopted

    def _change(self, changes: list[Any]) -> Any:
        """All changes of one request are made, or none of them."""
        known = {item.name for item in declared(type(self.link.task.params))}
        values = {change.name: from_ros(change.value) for change in changes if change.name in known}
        if self._own or not values:
            return self._result(successful=True)
        done, words = self._turns.in_turn("set", self._set, values, self._turns.stops)
        if done:
            self._revision = self.link.board.adopted
        return self._result(successful=done, reason=words)

    def _set(self, values: dict[str, Any]) -> str:
        self.link.set(values)
        return ""

    def follow(self) -> None:
        """Adopt parameter changes made elsewhere."""
        if self.link.board.adopted == self._revision:
            return
        self._revision = self.link.board.adopted
        values = flat(self.link.parameters)
        live = [item.name for item in declared(type(self.link.task.params)) if item.live]
        self._own = True
        try:
            self.node.set_parameters([self._parameter(name, value=to_ros(values[name])) for name in live])
        finally:
            self._own = False


def serve(link: Link, ready: Callable[[], None], goes_on: Callable[[], bool]) -> None:
    """Answer until the loop has ended, or this process receives a signal to stop."""
    try:
        rclpy: Any = import_module("rclpy")
        quiet = import_module("rclpy.signals").SignalHandlerOptions.NO
        rclpy.init(signal_handler_options=quiet)
        services = Services(link, rclpy)
        executor = import_module("rclpy.executors").MultiThreadedExecutor(_THREADS)
        executor.add_node(services.node)
    except ImportError as error:  # often an rclpy for another Python
        raise PliantError(f"Services and parameters need rclpy, which this Python cannot import ({error}).") from None
    ready()
    while goes_on():
        executor.spin_once(timeout_sec=_LOOK_S)
    executor.shutdown(_END_S)
    services.node.destroy_node()
    rclpy.shutdown()


if __name__ == "__main__":
    sys.exit(helper_main(sys.argv[1], serve, attach))

"""A node in the ROS 2 graph, by Cyclone DDS alone: topics are sent and received as bytes.

ROS 2 maps its names to DDS names: a topic /x is rt/x there. Each process reports which endpoints belong to which node
in one latched message on `ros_discovery_info`. User data holds the rest: the enclave of a participant, the hash of an
endpoint's type.
"""

from __future__ import annotations

from typing import Any, Self

from pliant.errors import PliantError
from pliant.ros2 import message_types
from pliant.ros2.network import configuration, cyclonedds_missing, domain_id, resolved

try:
    from cyclonedds._clayer import ddspy_take, ddspy_write
    from cyclonedds.core import DDSException, Entity
    from cyclonedds.domain import Domain, DomainParticipant
    from cyclonedds.pub import DataWriter
    from cyclonedds.qos import Policy, Qos
    from cyclonedds.sub import DataReader
    from cyclonedds.topic import Topic
    from cyclonedds.util import duration

    from pliant.ros2.dds_types import dds_type
except ImportError:
    raise cyclonedds_missing() from None

_GRAPH = "rmw_dds_common/msg/ParticipantEntitiesInfo"
_EVERY_SAMPLE = 0x7F  # read or not, seen or not, alive or not
_DEPTH = 10
# A longer message is ignored: it would delay its reader [bytes].
_LARGEST = 1 << 16
# How long a node that leaves waits for others to notice [s].
_LEAVE_S = 0.2
_domains: dict[int, Domain] = {}


class Writer:
    """Sends messages on one topic."""

    def __init__(self, entity: DataWriter[Any]) -> None:
        self._entity, self._ref = entity, entity._ref

    def send(self, data: bytes | bytearray) -> bool:
        """Send the bytes of a message (a multiple of 4 bytes); False if it could not be sent now."""
        return ddspy_write(self._ref, data) >= 0

    def say(self, message: Any) -> bool:
        """Send a message of `rosbags`."""
        return self.send(message_types.padded(message_types.encode(message)))

    def flush(self, within_s: float) -> bool:
        """Wait until every reliable subscriber has received everything; False if that took longer."""
        try:
            wait = duration(microseconds=round(within_s * 1e6))
            return self._entity.wait_for_acks(wait)
        except DDSException:
            return False

    @property
    def listeners(self) -> int:
        """The number of subscribers."""
        return len(self._entity.get_matched_subscriptions())


class Reader:
    """Receives messages of one topic."""

    def __init__(self, entity: DataReader[Any], message_type: str, largest: int = _LARGEST) -> None:
        self._entity, self._ref, self.message_type, self._largest = entity, entity._ref, message_type, largest

    def take(self, most: int = _DEPTH) -> list[bytes]:
        """The messages that have arrived since the last call, as bytes, oldest first."""
        return [data for data, _ in self._samples(most)]

    def _samples(self, most: int) -> list[tuple[bytes, Any]]:
        samples = ddspy_take(self._ref, _EVERY_SAMPLE, most)
        return [sample for sample in samples if sample[1].valid_data] if isinstance(samples, list) else []

    def told(self) -> list[tuple[Any, int]]:
        """The messages since the last call as `rosbags` objects, each with a number that identifies its publisher.

        Messages that cannot be decoded or are too large are skipped.
        """
        found = []
        for data, info in self._samples(_DEPTH):
            if len(data) > self._largest:
                continue
            try:
                found.append((message_types.decode(data, self.message_type), int(info.publication_handle)))
            except Exception:  # bytes from the network: whatever is wrong with them
                continue
        return found

    def messages(self) -> list[Any]:
        """The messages since the last call, without their publishers."""
        return [message for message, _ in self.told()]

    @property
    def publishers(self) -> int:
        """The number of publishers."""
        return len(self._entity.get_matched_publications())


class Node:
    """A node with writers and readers. Use it as a context manager, and call `announce` after creating them."""

    def __init__(self, name: str, namespace: str = "") -> None:
        self.name, self.namespace = name, f"/{namespace.strip('/')}"
        self._writers: list[Entity] = []
        self._readers: list[Entity] = []

    def open(self) -> Self:
        """Join the network."""
        domain = domain_id()
        try:
            if domain not in _domains:
                _domains[domain] = Domain(domain, configuration())
            self._participant = DomainParticipant(domain, qos=Qos(Policy.Userdata(b"enclave=/;")))
        except DDSException as error:
            raise PliantError(f"The ROS 2 network (domain {domain}) cannot be joined: {error.msg}.") from None
        graph = Topic(self._participant, "ros_discovery_info", dds_type(_GRAPH))
        self._graph = DataWriter(self._participant, graph, qos=_quality(latched=True, depth=1))
        return self

    def full_name(self, topic: str) -> str:
        """The full name of a topic."""
        return resolved(topic, self.name, self.namespace)

    def writer(
        self, topic: str, message_type: str, *, latched: bool = False, wait_s: float = 0.1, depth: int = _DEPTH
    ) -> Writer:
        """Publish on a topic, reliably. Late subscribers of a `latched` topic receive its last `depth` messages.

        `wait_s` is how long sending may wait for a slow subscriber.
        """
        quality = _quality(message_type, latched=latched, depth=depth, wait_s=wait_s)
        entity = DataWriter(self._participant, self._topic(topic, message_type), qos=quality)
        self._writers.append(entity)
        return Writer(entity)

    def reader(
        self,
        topic: str,
        message_type: str,
        *,
        reliable: bool = True,
        latched: bool = False,
        depth: int = _DEPTH,
        largest: int = _LARGEST,
    ) -> Reader:
        """Subscribe to a topic. A reader that is not `reliable` matches every publisher and may miss messages.

        A `latched` reader also receives what a latched publisher sent before. Messages of more than `largest` bytes
        are skipped.
        """
        quality = _quality(message_type, reliable=reliable, latched=latched, depth=depth)
        entity = DataReader(self._participant, self._topic(topic, message_type), qos=quality)
        self._readers.append(entity)
        return Reader(entity, message_type, largest)

    def _topic(self, name: str, message_type: str) -> Topic[Any]:
        return Topic(self._participant, f"rt{self.full_name(name)}", dds_type(message_type))

    def announce(self) -> None:
        """Announce which endpoints belong to this node."""
        node = {
            "node_namespace": self.namespace,
            "node_name": self.name,
            "reader_gid_seq": [_gid(entity) for entity in self._readers],
            "writer_gid_seq": [_gid(entity) for entity in self._writers],
        }
        self._tell([node])

    def _tell(self, nodes: list[dict[str, Any]]) -> None:
        values = {"gid": _gid(self._participant), "node_entities_info_seq": nodes}
        Writer(self._graph).say(message_types.build(_GRAPH, values))

    def close(self) -> None:
        """Leave the network. Closing twice is harmless."""
        if not hasattr(self, "_participant"):
            return
        self._tell([])  # others would list the node for ten more seconds
        Writer(self._graph).flush(_LEAVE_S)
        self._writers.clear()
        self._readers.clear()
        del self._graph
        delete: Any = self._participant._delete  # and with it all its endpoints
        delete(self._participant._ref)
        del self._participant

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(self, *_: object) -> None:
        self.close()


def _gid(entity: Entity) -> dict[str, Any]:
    return {"data": list(entity.guid.bytes)}


def _quality(
    message_type: str = "", *, reliable: bool = True, latched: bool = False, depth: int = _DEPTH, wait_s: float = 0.1
) -> Qos:
    wait = duration(microseconds=round(wait_s * 1e6))
    policies = [
        Policy.Reliability.Reliable(wait) if reliable else Policy.Reliability.BestEffort,
        Policy.Durability.TransientLocal if latched else Policy.Durability.Volatile,
        Policy.History.KeepLast(depth),
    ]
    if latched:
        policies.append(Policy.DurabilityService(0, Policy.History.KeepLast(depth), -1, -1, -1))
    if message_type:
        policies.append(Policy.Userdata(f"typehash={message_types.type_hash(message_type)};".encode()))
    return Qos(*policies)

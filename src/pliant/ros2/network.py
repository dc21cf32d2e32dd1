"""Which ROS 2 network Pliant joins: the environment variables of ROS 2, translated for Cyclone DDS.

ROS_DOMAIN_ID                   number of the domain, 0 to 232
ROS_AUTOMATIC_DISCOVERY_RANGE   SUBNET (default), LOCALHOST or OFF
ROS_LOCALHOST_ONLY              1 is LOCALHOST, as in older distributions
ROS_STATIC_PEERS                addresses, separated by ;
CYCLONEDDS_URI                  settings of Cyclone DDS, which take precedence
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from xml.sax.saxutils import quoteattr

from pliant.errors import InputError, RejectedError

_MOST_DOMAIN = 232  # higher domains have no ports
_RANGES = ("SUBNET", "LOCALHOST", "OFF", "SYSTEM_DEFAULT")
_LOOPBACK = "127.0.0.1"
# Fast DDS 3 (vendor 1.15, ROS 2 Kilted) describes types in a way that Cyclone takes for another type.
_COMPATIBILITY = "<Compatibility><IgnoreTypeInformation>1.15</IgnoreTypeInformation></Compatibility>"


def cyclonedds_missing() -> RejectedError:
    """The error if Cyclone DDS is not installed."""
    return RejectedError("ROS 2 needs the package cyclonedds: pip install -e '.[ros2]' in Pliant's folder.")


def domain_id(environment: Mapping[str, str] = os.environ) -> int:
    """The ROS 2 domain."""
    text = environment.get("ROS_DOMAIN_ID", "") or "0"
    if not text.isdecimal() or int(text) > _MOST_DOMAIN:
        raise InputError("ROS_DOMAIN_ID", text, f"a whole number from 0 to {_MOST_DOMAIN}")
    return int(text)


def configuration(environment: Mapping[str, str] = os.environ) -> str:
    """Cyclone DDS settings that find the same nodes as ROS 2."""
    reach = environment.get("ROS_AUTOMATIC_DISCOVERY_RANGE", "") or "SUBNET"
    if reach not in _RANGES:
        raise InputError("ROS_AUTOMATIC_DISCOVERY_RANGE", reach, f"one of {', '.join(_RANGES)}")
    if environment.get("ROS_LOCALHOST_ONLY") == "1":
        reach = "LOCALHOST"
    peers = [peer.strip() for peer in environment.get("ROS_STATIC_PEERS", "").split(";") if peer.strip()]
    general = ""
    if reach == "LOCALHOST":
        # such peers send no multicast: they are contacted one by one
        general = f'<Interfaces><NetworkInterface address="{_LOOPBACK}"/></Interfaces>'
        peers.insert(0, _LOOPBACK)
    if reach in ("LOCALHOST", "OFF"):
        general += "<AllowMulticast>false</AllowMulticast>"
    discovery = ""
    if peers or reach in ("LOCALHOST", "OFF"):
        # a peer that is contacted directly needs a predictable port, and this many ports are tried
        discovery = "<ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>30</MaxAutoParticipantIndex>"
    if peers:
        discovery += f"<Peers>{''.join(f'<Peer Address={quoteattr(peer)}/>' for peer in peers)}</Peers>"
    parts = f"<General>{general}</General><Discovery>{discovery}</Discovery>{_COMPATIBILITY}"
    own = f'<CycloneDDS><Domain Id="any">{parts}</Domain></CycloneDDS>'
    return ",".join(part for part in (own, environment.get("CYCLONEDDS_URI", "")) if part)


def check_settings(environment: Mapping[str, str] = os.environ) -> None:
    """Raise if a setting is invalid, before anything depends on it."""
    domain_id(environment)
    configuration(environment)


def resolved(name: str, node: str, namespace: str = "") -> str:
    """The full name of a topic: ~/x is private to the node, x is relative to the namespace, /x is absolute."""
    space = f"/{namespace.strip('/')}" if namespace.strip("/") else ""
    if name.startswith("~/"):
        return f"{space}/{node}/{name[2:]}"
    return name if name.startswith("/") else f"{space}/{name}"

"""Texts that the bridge publishes, by topic: state of the loop, fault, parameters."""

from __future__ import annotations

import json
from typing import Any

from pliant.control.laws.registry import law_of
from pliant.loop.board_layout import FAULT, STATUS
from pliant.mobile.mission.mission_link import MissionLink
from pliant.params.declare import flat
from pliant.records import FAULTS
from pliant.session.link import Link


class ArmWords:
    """The texts of a loop that runs an arm."""

    topics = ("~/state", "~/fault", "~/parameters")

    def __init__(self, link: Link) -> None:
        self._link, self._revision, self._parameters = link, -1, ""

    def of(self, record: Any) -> dict[str, str]:
        """The texts that go with a record."""
        board = self._link.board
        status = board.status
        if board.adopted != self._revision:
            self._revision = board.adopted
            self._parameters = json.dumps(flat(self._link.parameters))
        return {
            "~/state": state_words(record, status),
            "~/fault": fault_words(record, status, board.reason if status == FAULT else ""),
            "~/parameters": self._parameters,
        }


class MissionWords:
    """The texts of a mission."""

    topics = ("~/state", "~/fault")

    def __init__(self, link: MissionLink) -> None:
        self._link, self._told, self._mission_log = link, -1, link.mission_log

    def of(self, record: Any) -> dict[str, str]:
        """The texts that go with a record."""
        board = self._link.board
        status = board.status
        if board.mission_log_number != self._told:
            self._told = board.mission_log_number
            self._mission_log = self._link.mission_log or self._mission_log
        fault = board.reason if status == FAULT else stop_words(self._mission_log)
        return {"~/state": mission_words(self._mission_log, status), "~/fault": fault}


def state_words(record: Any, status: int) -> str:
    """The state of a loop in a few words: loop status, law, and the law's state if it has states."""
    law = law_of(record.goal.law) if record.goal.law else None
    words = [STATUS[status], "" if law is None else law.name]
    if law is not None and (now := law.status_of(record)) is not None:
        words.append(now.state)
    if record.goal.stop:
        words.append("halted")
    return " ".join(words)


def fault_words(record: Any, status: int, reason: str) -> str:
    """Why the robot was stopped; empty if there is no fault."""
    if status == FAULT:
        return reason
    if record.state.fault:
        return FAULTS[int(record.state.fault)]
    law = law_of(record.goal.law) if record.goal.law else None
    now = None if law is None else law.status_of(record)
    return now.reason if law and law.states and now and now.state in law.states.failed else ""


def mission_words(mission_log: dict[str, Any], status: int) -> str:
    """The state of a mission in a few words: loop status, stage, whether it is planning a path."""
    return " ".join([STATUS[status], "mission", mission_log["stage"], *(["seeking"] if mission_log["seeking"] else [])])


def stop_words(mission_log: dict[str, Any]) -> str:
    """Why a mission was stopped; empty if it was not."""
    stops = [reason for _, stage, reason in mission_log["account"]["log"] if stage == "stopping"]
    return stops[-1] if stops and mission_log["stage"] in ("stopping", "stopped") else ""

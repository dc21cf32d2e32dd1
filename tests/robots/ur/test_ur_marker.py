"""The file that says that a loop of this user may have left its program on a controller: nobody else can forge it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pliant.errors import RejectedError
from pliant.robots.ur import recovery

HOST = "192.0.2.7"


@pytest.fixture
def marker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the file is, in a folder that all users share."""
    monkeypatch.setattr(recovery.tempfile, "gettempdir", lambda: str(tmp_path))
    return recovery._file(HOST)


def test_a_program_of_ours_is_remembered_until_it_has_ended(marker: Path) -> None:
    assert not recovery.may_be_ours(HOST, None)
    recovery.remember(HOST)
    assert recovery.may_be_ours(HOST, None)
    assert marker.stat().st_mode & 0o777 == 0o600
    recovery.forget(HOST)
    assert not recovery.may_be_ours(HOST, None)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_a_file_of_another_user_does_not_make_a_program_ours(marker: Path) -> None:
    marker.touch()
    os.chown(marker, 65534, 65534)
    assert not recovery.may_be_ours(HOST, None)


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_what_is_not_a_file_does_not_make_a_program_ours_and_is_not_waited_for(marker: Path, kind: str) -> None:
    target = marker.with_name("target")
    {"link": lambda: marker.symlink_to(target), "pipe": lambda: os.mkfifo(marker), "folder": marker.mkdir}[kind]()
    recovery.remember(HOST)
    assert not recovery.may_be_ours(HOST, None)
    assert not target.exists()  # a link is not followed
    with pytest.raises(RejectedError), recovery.remembered(HOST):
        raise RejectedError("The program was rejected.")

"""Each recording in this folder, replayed: the same counts, findings and refusals as when it was made.

A recording of a real service (``wms-sync record``) becomes a test when its folder is put here.
"""

from pathlib import Path

import pytest

from wms_sandbox.replay import Replay
from wms_sandbox.transport import InProcessReplay
from wms_sync.cli.record import outcome_of
from wms_sync.settings import PREFIX, Settings

RECORDINGS = sorted(path.parent for path in Path(__file__).parent.glob("*/recording.json"))
OF_TIME = {"clocks", "stale"}
"""Findings that a replay always has: its time is that of the recording."""


def without_time(outcome):
    return outcome | {"findings": [name for name in outcome["findings"] if name not in OF_TIME]}


@pytest.mark.parametrize("folder", RECORDINGS, ids=lambda folder: folder.name)
def test_a_replay_ends_as_the_recording_did(folder):
    replay = Replay(folder)
    shaping = {name.removeprefix(PREFIX).lower(): value for name, value in replay.settings.items()}
    settings = Settings.load(_env_file=None, base_url=InProcessReplay.base_url, api_token="any", **shaping)
    outcome = outcome_of(settings, InProcessReplay(replay), is_probe=bool(replay.outcome["habits"]))
    assert replay.unanswered == []
    assert without_time(outcome) == without_time(replay.outcome)

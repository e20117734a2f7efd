"""Headless commands start fast because they import little: a fresh interpreter is asked what it loaded.

import-linter reads the static graph; this looks at what really happens.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.repositories import GitRepository

HEAVY = {"textual", "rich", "numpy", "git"}

PROBE = """
import json, sys
from gitdash.__main__ import main
sys.argv = ["gitdash", *sys.argv[1:]]
try:
    main()
except SystemExit as ended:
    code = ended.code or 0
else:
    code = 0
loaded = sorted(name for name in ("textual", "rich", "numpy", "git") if name in sys.modules)
print(json.dumps({"loaded": loaded, "code": code}), file=sys.stderr)
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ["--version"],
        ["--help"],
        ["scan", "--help"],
        ["bench", "size", "--help"],
        ["scan", "--format", "json", "."],
        ["check", "."],
    ],
    ids=" ".join,
)
def test_headless_command_imports_nothing_heavy(arguments: list[str], tmp_path: Path) -> None:
    finished = subprocess.run(
        [sys.executable, "-c", PROBE, *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": os.fspath(Path(__file__).resolve().parents[2])},
    )
    outcome = json.loads(finished.stderr.splitlines()[-1])
    assert outcome == {"loaded": [], "code": 0}, finished.stderr


@pytest.mark.safety
def test_numpy_starts_no_threads(tmp_path: Path) -> None:
    GitRepository.init(tmp_path / "r.git").commit({"a": "a"})
    probe = PROBE + "import os\nprint(json.dumps(len(os.listdir('/proc/self/task'))), file=sys.stderr)\n"
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    finished = subprocess.run(
        [sys.executable, "-c", probe, "--no-state", "scan", "--sizes", "exclusive", tmp_path],
        capture_output=True,
        text=True,
        env=environment | {"PYTHONPATH": os.fspath(Path(__file__).resolve().parents[2])},
    )
    outcome, thread_count = map(json.loads, finished.stderr.splitlines()[-2:])
    assert outcome == {"loaded": ["numpy"], "code": 0}, finished.stderr
    assert thread_count == 1

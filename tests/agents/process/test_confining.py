"""What runs users' code can neither end the worker by a limit, nor lift its own."""

import subprocess
import sys

import pytest

TRYING = """
import os, resource
from turnsignal.agents.process.confining import MEMORY, confine
confine()
for limit in ((os.getppid(), resource.RLIMIT_CPU, (1, 1)), (0, resource.RLIMIT_AS, (2 * MEMORY, 2 * MEMORY))):
    try:
        resource.prlimit(*limit)
        print("set")
    except (OSError, ValueError):
        print("refused")
resource.prlimit(0, resource.RLIMIT_AS, (MEMORY // 2, MEMORY))
print("lowered")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems know no filters of calls")
def test_a_confined_process_sets_no_limits_of_others_and_raises_none_of_its_own() -> None:
    said = subprocess.run([sys.executable, "-c", TRYING], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["refused", "refused", "lowered"]

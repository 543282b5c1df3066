"""Limits of time and of addresses: other work on the machine, and limits of the process."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from support.processes import python_output

WRITES = """
import sys
import numpy as np
from pymluops import bang, sim
module = bang.compile(
    '__mlu_entry__ void k(float *o) { for (int i = 0; i < 20000; i++) printf("0123456789"); o[0] = 1; }'
)
sim.set_time_limit(0.2)
module.kernel("k")[1](np.zeros(1, np.float32))
"""

FEW_ADDRESSES = """
import resource
import sys
import numpy as np
from pymluops import bang, sim
with open(sys.argv[1], "w") as file:
    file.write('base = "MLU590"\\nname = "small"\\nmemory_mib = 1024\\n')
sim.set_device(sys.argv[1])
resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))
module = bang.compile(
    "__nram__ float a[64]; __wram__ float w[64];"
    "__mlu_entry__ void k(float *o) { __bang_write_value(a, 64, 1.0f); __sync_all(); o[taskId] = a[taskId]; }"
)
result = np.zeros(48, np.float32)
with sim.checking("all"):
    module.kernel("k")[48, "union4"](result)
print(int(result.sum()), sim.findings())
"""


def test_the_time_limit_counts_the_time_that_a_kernel_runs() -> None:
    """A kernel that has to wait, here for a reader of what it prints, is not ended for that."""
    command = [sys.executable, "-c", WRITES]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0) as process:
        assert process.stdout is not None
        begin = process.stdout.read(1)
        time.sleep(0.6)  # the pipe is full meanwhile, and the kernel waits
        try:
            rest, said = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (process.returncode, said) == (0, b"")
    assert begin + rest == b"0123456789" * 20000


def test_a_small_device_needs_few_addresses(tmp_path: Path) -> None:
    assert python_output(FEW_ADDRESSES, str(tmp_path / "small.toml")) == "48 []"

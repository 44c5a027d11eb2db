"""What one signature costs in OpenSSL, which the service signs and verifies with."""

import re
import subprocess
from dataclasses import dataclass
from statistics import median

from .processes import BenchError
from .rounds import note

_OPERATIONS = ("ES256 sign", "ES256 verify", "RS256 sign", "RS256 verify")


@dataclass(frozen=True)
class Signature:
    operation: str
    cpu_us: float


def measure(cores: set[int], rounds: int) -> list[Signature]:
    """P-256, and RSA with 2048 bits. `openssl speed` counts user time, for a second each."""
    runs = []
    for _ in range(rounds):
        command = ["taskset", "-c", str(min(cores)), "openssl", "speed", "-mr", "-seconds", "1"]
        ran = subprocess.run(
            [*command, "ecdsap256", "rsa2048"], capture_output=True, text=True, check=False,
            timeout=60)
        elliptic = re.search(r"^\+F4:\d+:256:([0-9.]+):([0-9.]+)", ran.stdout, re.MULTILINE)
        rsa = re.search(r"^\+F2:\d+:2048:([0-9.]+):([0-9.]+)", ran.stdout, re.MULTILINE)
        if elliptic is None or rsa is None:
            raise BenchError(f"openssl speed: {ran.stdout}{ran.stderr}")
        # OpenSSL 1 and 3.0 print seconds and operations per second, in either order of magnitude.
        runs.append([_microseconds(float(text)) for text in (*elliptic.groups(), *rsa.groups())])
    costs = [median(run[index] for run in runs) for index in range(len(_OPERATIONS))]
    note("  ".join(f"{name} {cost:.1f} us" for name, cost in zip(_OPERATIONS, costs)))
    return [Signature(name, cost) for name, cost in zip(_OPERATIONS, costs, strict=True)]


def _microseconds(value: float) -> float:
    """Of seconds per operation, or of operations per second."""
    return 1e6 / value if value > 1 else value * 1e6

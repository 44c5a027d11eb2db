"""Makes siwa.proftext out of a profile in the text form of llvm-profdata: standard input to standard output."""

import re
import sys
from collections.abc import Iterator

LEAST = 300_000
"""Functions none of whose blocks was executed so often are left out: their speed does not matter. The training has some
hundred thousand requests of each kind. With 10,000 the file is twice as large, and no request is faster."""

VALUES = "# Counter Values:"
COUNT = "# Num Counters:"


def records(text: str) -> Iterator[str]:
    for record in re.split(r"\n{2,}", text.strip("\n")):
        lines = record.split("\n")
        begin = lines.index(VALUES) + 1
        end = begin + int(lines[lines.index(COUNT) + 1])
        if max(map(int, lines[begin:end])) < LEAST:
            continue
        # The number of bitmap bytes. Where it is missing, llvm-profdata takes the next function's name for it, because
        # every name of Swift begins with the same sign.
        lines.insert(end, "$0")
        # A private function is named after its file, whose folders are different on each machine.
        yield "\n".join(re.sub(r"^/[^;]*/([^/;]*;)", r"\1", line) for line in lines)


kind, head, body = sys.stdin.read().partition(":ir\n")
if not head:
    sys.exit("error: expected a profile of a program built with -ir-profile-generate, in text form.")
sys.stdout.write(kind + head + "\n\n".join(records(body)) + "\n\n")

"""Makes order-runtime.txt: the functions of a program that have no counters, those with most instructions first.

Arguments: the name of the program, the profile in the text form of llvm-profdata, then output files of callgrind.
Standard output: the list."""

import re
import sys
from collections import Counter
from pathlib import Path

SHARE = 0.999
"""The list ends where its functions have executed so much of all instructions. The rest is rare, and has no order."""

HEAD = """\
# Functions of the Swift runtime, its standard library and the HTTP parser that requests execute, those with most
# instructions first, as callgrind counted them. They are compiled without counters, and siwa.proftext does not have
# them. Benchmarks/profile/runtime.py makes this file.
"""

_UNWANTED = re.compile(r"^0x|^__llvm_|Prof|NumValue|ValueData|^(initBuffer|file)Writer$")
"""Functions without a name, and the functions that write the counters."""

_NAME = re.compile(r"^(fn|c?ob)=\((\d+)\)(?: (.+))?$")


def counted(profile: str) -> set[str]:
    """Names of the functions with counters. A private function's name follows the name of its file."""
    return {name.rpartition(";")[2] for name in re.findall(r"^(\S+)\n# Func Hash:", profile, re.MULTILINE)}


def instructions(output: str, wanted: str, totals: Counter[str]) -> None:
    """Adds what each function of the wanted program executed, without the functions that it called."""
    # An identifier has its name where it stands first.
    names: dict[tuple[str, str], str] = {}
    function = program = ""
    is_call = False
    for line in output.splitlines():
        if match := _NAME.match(line):
            kind = "fn" if match[1] == "fn" else "ob"
            if match[3]:
                names[kind, match[2]] = match[3]
            if match[1] == "fn":
                function = names[kind, match[2]]
            elif match[1] == "ob":
                program = names[kind, match[2]]
        elif line.startswith("cfn=("):
            identifier, _, name = line[5:].partition(")")
            if name:
                names["fn", identifier] = name.strip()
        elif line.startswith("calls="):
            is_call = True
        elif re.match(r"[0-9+*-]", line):
            # The line after `calls=` has the instructions of the called function.
            if not is_call and Path(program).name == wanted:
                totals[function] += int(line.split()[1])
            is_call = False


def main(program: str, profile: Path, outputs: list[Path]) -> None:
    totals: Counter[str] = Counter()
    for output in outputs:
        instructions(output.read_text(), program, totals)
    # callgrind marks the depth of a recursion.
    merged: Counter[str] = Counter()
    for name, count in totals.items():
        merged[name.partition("'")[0]] += count
    if not merged:
        sys.exit(f"error: expected output of callgrind with instructions of {program}, found none.")
    known = counted(profile.read_text())
    wanted, reached = sum(merged.values()) * SHARE, 0
    sys.stdout.write(HEAD)
    for name, count in merged.most_common():
        if reached >= wanted:
            break
        reached += count
        if name not in known and not _UNWANTED.search(name):
            print(name)


main(sys.argv[1], Path(sys.argv[2]), [Path(path) for path in sys.argv[3:]])

"""The run as Markdown and as JSON."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from .console import Page
from .deliveries import Deliveries
from .deliveries import measured as measured_deliveries
from .extremes import HalfPeak, Overload
from .figures import FIGURES
from .grant_scale import KINDS, GrantSize
from .grant_scale import growth as grant_growth
from .rounds import Round, median_of_quotients, median_ratio, middle
from .scale import Size, growth
from .signatures import Signature

# These are compared with the reference alone.
_RATIOS = [
    "verify", "sign-in", "state", "verify-oauth", "sign-in-oauth", "state-oauth", "introspection", "refresh", "code",
    "authorize", "authorize-arrival"]


@dataclass
class Report:
    machine: list[str]
    titles: dict[str, str] = field(default_factory=dict)
    subjects: dict[str, list[Round]] = field(default_factory=dict)
    postgres: list[tuple[float, float]] = field(default_factory=list)
    """Sign-ins and pgbench's transactions per second, of each round."""
    half_peak: list[HalfPeak] = field(default_factory=list)
    overload: list[Overload] = field(default_factory=list)
    sizes: list[Size] = field(default_factory=list)
    """On SQLite."""
    postgres_sizes: list[Size] = field(default_factory=list)
    grant_sizes: list[GrantSize] = field(default_factory=list)
    """On SQLite."""
    postgres_grant_sizes: list[GrantSize] = field(default_factory=list)
    signatures: list[Signature] = field(default_factory=list)
    deliveries: list[Deliveries] = field(default_factory=list)
    pages: list[Page] = field(default_factory=list)
    """Of the console, on both stores."""

    def measured(self) -> dict[str, float]:
        """What was measured of the figures to reach, by their names."""
        found: dict[str, float] = {}
        for name in _RATIOS:
            if name in self.subjects:
                found[name] = median_ratio(self.subjects[name])
        for name in ("jwt-kit", "pyjwt"):
            if name in self.subjects and "verify" in self.subjects:
                found[name] = median_of_quotients(self.subjects["verify"], self.subjects[name])
        if "sign-in-postgres" in self.subjects:
            # The rounds' ratio is of the service's own CPU.
            found["sign-in-postgres"] = median(
                one.ratio * (1 + one.measured.backing_us / one.measured.cpu_us)
                for one in self.subjects["sign-in-postgres"])
        if "nonce" in self.subjects and "state" in self.subjects:
            found["nonce"] = median_of_quotients(self.subjects["nonce"], self.subjects["state"])
        if "attestation" in self.subjects:
            found["attestation"] = middle(self.subjects["attestation"]).cpu_us / 1000
        if "sign-in-attested" in self.subjects and "sign-in" in self.subjects:
            attested, plain = self.subjects["sign-in-attested"], self.subjects["sign-in"]
            found["assertion"] = (middle(attested).cpu_us - middle(plain).cpu_us) / 1000
            found["sign-in-attested"] = median_of_quotients(attested, plain)
        for name in ("sign-in", "sign-in-postgres"):
            beside = name.replace("sign-in", "sign-in-receivers")
            if beside in self.subjects and name in self.subjects:
                found[beside] = median_of_quotients(self.subjects[beside], self.subjects[name])
        found |= measured_deliveries(self.deliveries)
        if self.postgres:
            found["pgbench"] = median(ours / theirs for ours, theirs in self.postgres)
        if len(self.sizes) > 1:
            times = growth(self.sizes)
            found["scale-state"], found["scale-sign-in"] = times.state, times.sign_in
        if self.sizes:
            found["scale-memory"] = self.sizes[-1].memory_mb
        for part, sizes in (
            ("scale-grants", self.grant_sizes), ("scale-grants-postgres", self.postgres_grant_sizes)):
            if sizes:
                found |= {f"{part}-{kind}": times for kind, times in grant_growth(sizes).items()}
        if self.pages:
            found["console"] = max(page.median_ms for page in self.pages)
        if self.half_peak:
            found["half-peak"] = max(run.p99_ms for run in self.half_peak)
        if self.overload:
            found["overload"] = min(run.goodput for run in self.overload)
        return found

    def markdown(self) -> str:
        parts = ["\n".join(f"- {line}" for line in self.machine), self._figures()]
        if self.subjects:
            parts.append(self._subjects())
        if self.postgres:
            parts.append(_table(
                ["PostgreSQL, 64 connections", "per second"],
                [["sign-ins", f"{median(ours for ours, _ in self.postgres):.0f}"],
                 ["pgbench, the same upsert", f"{median(theirs for _, theirs in self.postgres):.0f}"]]))
        if self.half_peak:
            parts.append(_table(
                ["half of the peak rate", "requests/s", "p50 ms", "p99 ms"],
                [[run.subject, f"{run.peak / 2:.0f}", f"{run.p50_ms:.2f}", f"{run.p99_ms:.2f}"]
                 for run in self.half_peak]))
        if self.overload:
            parts.append(_table(
                ["twice the peak rate", "offered/s", "successes against peak", "503", "unsent", "p99 ms", "MB"],
                [[run.subject, f"{run.offered:.0f}", f"{run.goodput:.2f}", f"{run.shed:.0%}", f"{run.unsent:.0%}",
                  f"{run.p99_ms:.0f}", f"{run.memory_mb:.0f}"] for run in self.overload]))
        parts += [_sizes(sizes) for sizes in (self.sizes, self.postgres_sizes) if sizes]
        parts += [_grant_sizes(sizes) for sizes in (self.grant_sizes, self.postgres_grant_sizes) if sizes]
        if self.deliveries:
            parts.append(_deliveries(self.deliveries))
        if self.pages:
            parts.append(_table(
                ["page of the console", "store", "people", "median ms", "slowest ms"],
                [[page.name, page.store, f"{page.people:,}", f"{page.median_ms:.1f}", f"{page.worst_ms:.1f}"]
                 for page in self.pages]))
        if self.signatures:
            parts.append(_table(
                ["one signature (OpenSSL, P-256 and RSA-2048)", "CPU us"],
                [[one.operation, f"{one.cpu_us:.1f}"] for one in self.signatures]))
        return "\n\n".join(parts) + "\n"

    def write_json(self, path: Path) -> None:
        document: dict[str, Any] = asdict(self) | {"measured": self.measured()}
        path.write_text(json.dumps(document, indent=1) + "\n")

    def _figures(self) -> str:
        measured = self.measured()
        counts = {
            "fewest": f"{self.sizes[0].accounts:,}" if self.sizes else "few",
            "most": f"{self.sizes[-1].accounts:,}" if self.sizes else "many"}
        rows = []
        for figure in FIGURES:
            value: float | None = measured.get(figure.name)
            rows.append([
                figure.title.format(**counts), figure.value(figure.must), figure.value(figure.aim),
                figure.value(value), "" if value is None else figure.verdict(value)])
        return _table(["", "must", "aim", "measured", "verdict"], rows)

    def _subjects(self) -> str:
        rows = []
        for name, rounds in self.subjects.items():
            run = middle(rounds)
            database = f"{run.backing_us:.1f}" if run.backing_us else ""
            rows.append([
                self.titles[name], f"{run.cpu_us:.1f}", database, f"{median_ratio(rounds):.2f}", f"{run.rate:.0f}",
                f"{run.p50_ms:.2f}", f"{run.p99_ms:.2f}", str(run.errors)])
        return _table(
            ["32 connections", "CPU us/request", "PostgreSQL's", "ratio", "requests/s", "p50 ms", "p99 ms", "errors"],
            rows)


def _cost(rounds: list[Round]) -> str:
    run = middle(rounds)
    return f"{run.cpu_us:.1f} + {run.backing_us:.1f}" if run.backing_us else f"{run.cpu_us:.1f}"


def _sizes(sizes: list[Size]) -> str:
    return _table(
        [f"accounts ({sizes[0].store})", "file MB", "state us", "sign-in us", "MB with 256 connections"],
        [[f"{size.accounts:,}", f"{size.file_mb:.0f}", _cost(size.state), _cost(size.sign_in),
          f"{size.memory_mb:.0f}"]
         for size in sizes])


def _grant_sizes(sizes: list[GrantSize]) -> str:
    return _table(
        [f"grants ({sizes[0].store})", "file MB", *(f"{kind} us" for kind in KINDS)],
        [[f"{size.grants:,}", f"{size.file_mb:.0f}", *(_cost(size.runs[kind]) for kind in KINDS)] for size in sizes])


def _deliveries(runs: list[Deliveries]) -> str:
    rows = []
    for kind in dict.fromkeys((run.store, run.receivers, run.is_paused) for run in runs):
        own = [run for run in runs if (run.store, run.receivers, run.is_paused) == kind]
        store, receivers, is_paused = kind
        rows.append([
            f"{receivers}{' paused' if is_paused else ''}, {store}",
            f"{median(run.core for run in own):.1%}", f"{median(run.backing for run in own):.1%}",
            f"{median(run.p50_ms for run in own):.2f}", f"{median(run.p99_ms for run in own):.2f}",
            f"{median(run.behind_ms for run in own):.0f}", f"{median(run.idle for run in own):.2%}"])
    return _table(
        ["receivers, 1,000 events/s", "CPU of a core", "PostgreSQL's", "sign-in p50 ms", "p99 ms", "behind ms",
         "idle"], rows)


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)

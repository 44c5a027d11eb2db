"""JSON to models, and back."""

import dataclasses
import functools
import re
from datetime import datetime, timezone
from typing import Any, Dict, Type, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")


def decode(model: Type[T], value: Any) -> T:
    """Reads a model. Skips unknown members. Raises ValueError for a missing member, or one of another type."""
    return _decode(model, value)  # type: ignore[no-any-return]


def to_json(value: Any) -> Any:
    """The JSON value of a model, with siwa's member names and without absent members."""
    if dataclasses.is_dataclass(value):
        members = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return {name: to_json(member) for name, member in members.items() if member is not None}
    if isinstance(value, list):
        return [to_json(element) for element in value]
    return time_text(value) if isinstance(value, datetime) else value


def time_text(time: datetime) -> str:
    """RFC 3339 in UTC with milliseconds, as siwa writes times. Raises ValueError for a time without a zone."""
    if time.tzinfo is None:
        raise ValueError("a time must have a time zone, such as datetime.timezone.utc")
    return time.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _decode(kind: Any, value: Any) -> Any:
    if get_origin(kind) is Union:  # Optional
        return None if value is None else _decode(get_args(kind)[0], value)
    if get_origin(kind) is list and isinstance(value, list):
        return [_decode(get_args(kind)[0], element) for element in value]
    if kind is datetime and isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", value):
        return datetime.fromisoformat(value[:-1] + "+00:00")
    if isinstance(kind, type) and dataclasses.is_dataclass(kind) and isinstance(value, dict):
        return kind(**{name: _decode(member, value.get(name)) for name, member in _members(kind).items()})
    # True is an int in Python, and not in JSON.
    if kind is Any or (kind in (str, bool, int) and type(value) is kind):
        return value
    raise ValueError(f"expected {getattr(kind, '__name__', kind)}, found {type(value).__name__}")


@functools.lru_cache(maxsize=None)
def _members(model: Any) -> Dict[str, Any]:
    return get_type_hints(model)

"""Reads requests of OTLP/HTTP in JSON with the messages of OpenTelemetry, as a collector does, and prints the spans.

Every unknown member, wrong type and wrong length is an error. The JSON of OTLP has IDs in hexadecimal, in place of the
base64 of protobuf's JSON (OTLP specification, "JSON Protobuf Encoding"), so they are translated first.
"""

import base64
import json
import sys

from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

IDS = {"traceId": 16, "spanId": 8, "parentSpanId": 8}


def translated(value):
    if isinstance(value, list):
        return [translated(element) for element in value]
    if not isinstance(value, dict):
        return value
    result = {}
    for name, member in value.items():
        if name in IDS:
            data = bytes.fromhex(member)
            assert len(data) == IDS[name] and any(data), f"{name} has {len(data)} bytes"
            assert member == member.lower(), f"{name} has capitals"
            member = base64.b64encode(data).decode()
        result[name] = translated(member)
    return result


for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    request = ParseDict(translated(document), ExportTraceServiceRequest(), ignore_unknown_fields=False)
    for resource in request.resource_spans:
        service = {a.key: a.value.string_value for a in resource.resource.attributes}["service.name"]
        for scope in resource.scope_spans:
            for span in scope.spans:
                assert 0 < span.start_time_unix_nano <= span.end_time_unix_nano
                assert span.kind != 0 and span.name
                parent = span.parent_span_id.hex() or "none"
                print(f"{service}|{span.trace_id.hex()}|{span.span_id.hex()}|{parent}|{span.name}|{span.kind}")

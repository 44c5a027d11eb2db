import StrictJSON
import Tracing

/// Writes spans as an OTLP/HTTP request in JSON (OpenTelemetry Protocol 1.x, "JSON Protobuf Encoding"), where
/// IDs are hexadecimal, 64-bit numbers are strings, and enumerations are numbers.
public struct TraceDocument: Sendable {
    private let service: String
    private let version: String
    private let instance: String

    /// - Parameters:
    ///   - service: The resource's `service.name` attribute.
    ///   - instance: The resource's `service.instance.id` attribute, which distinguishes replicas.
    public init(service: String, version: String, instance: String) {
        (self.service, self.version, self.instance) = (service, version, instance)
    }

    public func encode(_ spans: [FinishedSpan]) -> [UInt8] {
        var json = JSONWriter(reservingCapacity: 512 + spans.count * 768)
        json.beginObject()
        json.name("resourceSpans")
        json.beginArray()
        json.element()
        json.beginObject()
        json.name("resource")
        json.beginObject()
        json.name("attributes")
        json.beginArray()
        attribute("service.name", .text(service), into: &json)
        attribute("service.version", .text(version), into: &json)
        attribute("service.instance.id", .text(instance), into: &json)
        json.endArray()
        json.endObject()
        json.name("scopeSpans")
        json.beginArray()
        json.element()
        json.beginObject()
        json.name("scope")
        json.beginObject()
        json.member("name", "siwa")
        json.member("version", version)
        json.endObject()
        json.name("spans")
        json.beginArray()
        for span in spans { write(span, into: &json) }
        json.endArray()
        json.endObject()
        json.endArray()
        json.endObject()
        json.endArray()
        json.endObject()
        return json.bytes
    }

    private func write(_ span: FinishedSpan, into json: inout JSONWriter) {
        json.element()
        json.beginObject()
        json.member("traceId", span.trace.traceID.text)
        json.member("spanId", span.trace.spanID.text)
        if let state = span.trace.state { json.member("traceState", state) }
        if let parent = span.parent { json.member("parentSpanId", parent.text) }
        json.member("name", span.name)
        json.member("kind", Self.number(of: span.kind))
        json.member("startTimeUnixNano", String(span.startedAt))
        json.member("endTimeUnixNano", String(span.endedAt))
        json.name("attributes")
        json.beginArray()
        for (name, value) in span.attributes { attribute(name, value, into: &json) }
        json.endArray()
        if !span.links.isEmpty {
            json.name("links")
            json.beginArray()
            for link in span.links {
                json.element()
                json.beginObject()
                json.member("traceId", link.traceID.text)
                json.member("spanId", link.spanID.text)
                json.endObject()
            }
            json.endArray()
        }
        if span.isFailed {
            json.name("status")
            json.beginObject()
            // STATUS_CODE_ERROR has the number 2.
            json.member("code", 2)
            json.endObject()
        }
        json.endObject()
    }

    private func attribute(_ name: String, _ value: FinishedSpan.Value, into json: inout JSONWriter) {
        json.element()
        json.beginObject()
        json.member("key", name)
        json.name("value")
        json.beginObject()
        switch value {
        case .text(let text): json.member("stringValue", text)
        case .number(let number): json.member("intValue", String(number))
        case .bool(let bool): json.member("boolValue", bool)
        }
        json.endObject()
        json.endObject()
    }

    private static func number(of kind: SpanKind) -> Int {
        switch kind {
        case .internal: 1
        case .server: 2
        case .client: 3
        case .producer: 4
        case .consumer: 5
        }
    }
}

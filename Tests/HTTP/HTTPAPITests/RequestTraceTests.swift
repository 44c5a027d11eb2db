import HTTPAPI
import StrictJSON
import Synchronization
import TestSupport
import Testing
import TokenMint
import TraceExport

extension Trait where Self == TestScope<RunningService> {
    /// A service whose spans are in `TestScope<SpanQueue>.current`.
    ///
    /// - Parameter ratio: Share of new traces that are recorded.
    fileprivate static func traced(ratio: Double) -> Self {
        Self { body in
            let recorder = SpanRecorder(sampler: TraceSampler(ratio: ratio))
            try await RunningService.with(.init(spans: recorder)) { service in
                try await TestScope.provide(recorder.queue) { try await body(service) }
            }
        }
    }
}

/// The spans of requests: where they belong, what they have, and who decides that they are recorded.
@Suite(.traced(ratio: 1)) struct RequestTraceTests {
    private var service: RunningService { .current }
    private var queue: SpanQueue { TestScope.current }

    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let parent = "00f067aa0ba902b7"

    private static func spans(_ queue: SpanQueue, _ count: Int) async throws -> [FinishedSpan] {
        let all = Mutex<[FinishedSpan]>([])
        try await eventually {
            let more = queue.takeAll()
            return all.withLock { all in
                all += more
                return all.count >= count
            }
        }
        return all.withLock { $0 }
    }

    @Test(.traced(ratio: 0))
    func `a sign-in has spans of the request, the verification and the commit`() async throws {
        let response = try await service.post(
            "/v1/sign-ins", body: Bodies.json([("identity_token", .string(try Bodies.token()))]),
            fields: [
                "traceparent": "00-\(Self.trace)-\(Self.parent)-01", "tracestate": "vendor=x",
                "X-Request-ID": "r1",
            ])
        #expect(response.status == 201)
        let spans = try await Self.spans(queue, 3)
        #expect(Set(spans.map(\.name)) == ["POST /v1/sign-ins", "verify", "commit accounts"])
        let request = try #require(spans.first { $0.name == "POST /v1/sign-ins" })
        #expect(request.parent?.text == Self.parent)
        #expect(request.trace.state == "vendor=x")
        for span in spans {
            #expect(span.trace.traceID.text == Self.trace)
            if span.name != request.name { #expect(span.parent == request.trace.spanID) }
        }
        #expect(request.attributes.contains { $0.name == "siwa.request_id" && $0.value == .text("r1") })
        #expect(
            request.attributes.contains { $0.name == "http.response.status_code" && $0.value == .number(201) }
        )
        #expect(service.requestLines.last?.hasSuffix(" trace_id=\(Self.trace)") == true)
        for span in spans {
            for attribute in span.attributes {
                guard case .text(let text) = attribute.value else { continue }
                #expect(!text.contains("eyJ") && !text.contains(TokenMint.subject), "\(attribute)")
            }
        }
    }

    @Test func `a caller that does not record a trace has its ID in the log, and no span`() async throws {
        _ = try await service.get("/v1/events", fields: ["traceparent": "00-\(Self.trace)-\(Self.parent)-00"])
        #expect(service.requestLines.last?.contains(" trace_id=\(Self.trace)") == true)
        #expect(queue.takeAll().isEmpty)
    }

    @Test(arguments: ["siwa_a_wrong_key", nil])
    func `without an API key nobody decides what is recorded`(secret: String?) async throws {
        for ratio in [0.0, 1.0] {
            let recorder = SpanRecorder(sampler: TraceSampler(ratio: ratio))
            try await RunningService.with(.init(spans: recorder)) { service in
                let queue = recorder.queue
                for target in ["/v1/events", "/livez", "/nowhere"] {
                    for flags in ["00", "01"] {
                        _ = try await service.get(
                            target, secret: secret,
                            fields: ["traceparent": "00-\(Self.trace)-\(Self.parent)-\(flags)"])
                    }
                }
                let spans = ratio == 0 ? queue.takeAll() : try await Self.spans(queue, 6)
                #expect(spans.count == (ratio == 0 ? 0 : 6))
                for span in spans {
                    #expect(span.trace.traceID.text != Self.trace)
                    #expect(span.links.map(\.traceID.text) == [Self.trace])
                }
                #expect(!service.loggedText().contains(Self.trace))
            }
        }
    }

    @Test(arguments: [
        "", "00-\(trace)-\(parent)", "ff-\(trace)-\(parent)-01", "00-\(trace.uppercased())-\(parent)-01",
        "00-00000000000000000000000000000000-\(parent)-01", "00-\(trace)-0000000000000000-01",
        "00-\(trace)-\(parent)-01-x", "00-\(trace)-\(parent)-01,00-\(trace)-\(parent)-01",
        "00-\(trace)-\(parent)-01\r\ntraceparent: 00-\(trace)-\(parent)-01", "\u{FF}\u{FF}",
        String(repeating: "0", count: 8000),
    ])
    func `a traceparent that is not well formed begins a new trace`(text: String) async throws {
        #expect(try await service.get("/v1/events", fields: ["traceparent": text]).status == 200)
        let span = try #require(try await Self.spans(queue, 1).first)
        #expect(span.trace.traceID.text != Self.trace)
        #expect(span.parent == nil && span.links.isEmpty)
    }

    @Test(.traced(ratio: 0), arguments: ["A=1", "a=1,a=2", "a", String(repeating: "a=1,", count: 1000)])
    func `a tracestate that is not well formed is dropped, and the trace goes on`(text: String) async throws {
        _ = try await service.get(
            "/v1/events", fields: ["traceparent": "00-\(Self.trace)-\(Self.parent)-01 ", "tracestate": text])
        let span = try #require(try await Self.spans(queue, 1).first)
        #expect(span.trace.traceID.text == Self.trace)
        #expect(span.trace.state == nil)
    }

    @Test func `a refusal has its code, and a failure its status`() async throws {
        _ = try await service.post("/v1/sign-ins", body: #"{"identity_token":"a.b.c"}"#)
        let spans = try await Self.spans(queue, 2)
        for span in spans {
            #expect(
                span.attributes.contains { $0.name == "error.type" && $0.value == .text("token_malformed") },
                "\(span)")
            #expect(!span.isFailed)
        }
    }

    @Test(.service())
    func `without tracing the fields are not looked at`() async throws {
        _ = try await service.get(
            "/v1/events", fields: ["traceparent": "00-\(Self.trace)-\(Self.parent)-01"])
        #expect(!service.loggedText().contains("trace_id"))
    }
}

/// Probes and metrics of a service that is ready but must be corrected.
@Suite struct ServiceWarningTests {
    static func metric(_ name: String, _ service: RunningService) async throws -> String? {
        try await service.get("/metrics").text.split(separator: "\n")
            .first { $0.hasPrefix("\(name) ") }.map { String($0.dropFirst(name.utf8.count + 1)) }
    }

    @Test(
        arguments: [
            (0, nil, []), (0, 49, []), (0, -49, []), (0, 50, ["clock_wrong"]), (0, -120, ["clock_wrong"]),
            (3, 0, ["sealing_keys_wrong"]), (1, Int64.min, ["sealing_keys_wrong", "clock_wrong"]),
        ] as [(Int64, Int64?, [String])])
    func `a wrong sealing key and a wrong clock are said, and the service stays ready`(
        unreadable: Int64, ahead: Int64?, expected: [String]
    ) async throws {
        let warnings = ServiceWarnings(clockAhead: { ahead })
        warnings.unreadableValues = unreadable
        var options = RunningService.Options()
        options.warnings = warnings
        try await RunningService.with(options) { service in
            for path in ["/readyz", "/health"] {
                let response = try await service.get(path, secret: nil).expecting(200)
                #expect(response.json?["status"]?.string == "ready")
                #expect((response.json?["warnings"]?.array?.compactMap(\.string) ?? []) == expected)
                #expect((response.json?["warnings"] == nil) == expected.isEmpty)
            }
            let count = try await Self.metric("siwa_sealed_values_unreadable", service)
            #expect(count == "\(unreadable)")
            let skew = try await Self.metric("siwa_clock_skew_seconds", service)
            if let ahead, ahead > .min { #expect(skew == "\(ahead)") }
            if ahead == nil { #expect(skew == "NaN") }
        }
    }

    @Test func `the age of the last notification grows until the next one, also from the start`() async throws
    {
        let name = "siwa_notification_age_seconds"
        try await RunningService.with { service in
            #expect(try await Self.metric(name, service) == "0")
            service.clock.advance(by: .seconds(30))
            #expect(try await Self.metric(name, service) == "30")
            _ = try await service.post("/v1/apple/notifications", body: "{}", secret: nil)
            #expect(try await Self.metric(name, service) == "30")
            let notification = try Bodies.notification()
            let taken = try await service.post("/v1/apple/notifications", body: notification, secret: nil)
            #expect(taken.status == 200)
            #expect(try await Self.metric(name, service) == "0")
        }
    }
}

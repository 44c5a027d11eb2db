import HTTPAPI
import StrictJSON
import TestSupport
import Testing
import TokenMint

/// Probes and metrics of a service that is ready but must be corrected.
@Suite struct ServiceWarningTests {
    static func metric(_ name: String, _ service: RunningService) async throws -> String? {
        try await service.call("GET", "/metrics").text.split(separator: "\n")
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
                let response = try await service.call("GET", path, secret: nil)
                #expect(response.status == 200)
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

    @Test func `the age of the last notification grows until the next one, also from the start`()
        async throws
    {
        let name = "siwa_notification_age_seconds"
        try await RunningService.with { service in
            #expect(try await Self.metric(name, service) == "0")
            service.clock.advance(by: .seconds(30))
            #expect(try await Self.metric(name, service) == "30")
            _ = try await service.call("POST", "/v1/apple/notifications", body: "{}", secret: nil)
            #expect(try await Self.metric(name, service) == "30")
            let notification = try Bodies.notification()
            let taken = try await service.call(
                "POST", "/v1/apple/notifications", body: notification, secret: nil)
            #expect(taken.status == 200)
            #expect(try await Self.metric(name, service) == "0")
        }
    }
}

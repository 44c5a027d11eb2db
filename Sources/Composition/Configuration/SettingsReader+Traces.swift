import Encodings

extension SettingsReader {
    /// Reads the trace settings. Returns `nil` if there is no collector, but still checks the other settings.
    mutating func traceSettings() -> TraceSettings? {
        let ratio = tracesRatio()
        let headers = tracesHeaders()
        let service = text(.tracesService) ?? ""
        if !(1...64).contains(service.utf8.count) || !service.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        {
            mistakes.add(
                Setting.tracesService.name, "must be 1 to 64 visible ASCII characters without spaces")
        }
        guard let location = text(.tracesURL) else { return nil }
        let mistake =
            "must be an http or https URL of an OTLP/HTTP receiver without a query, like http://127.0.0.1:4318"
        guard WebAddress(location) != nil, !location.contains(where: { "?#".contains($0) }) else {
            mistakes.add(Setting.tracesURL.name, mistake)
            return nil
        }
        // Port 4317 is for OTLP over gRPC, which siwa does not support.
        if location.hasSuffix(":4317") || location.contains(":4317/") {
            mistakes.add(
                Setting.tracesURL.name, "has port 4317, which is for gRPC; siwa uses HTTP, whose port is 4318"
            )
        }
        var url = location
        while url.hasSuffix("/") { url.removeLast() }
        return TraceSettings(
            url: url.hasSuffix("/v1/traces") ? url : url + "/v1/traces", headers: headers, ratio: ratio,
            service: service)
    }

    private mutating func tracesRatio() -> Double {
        let digits = text(.tracesRatio) ?? ""
        // Accepts only decimal digits, so that "nan", "inf", "0x1p-3" and "1e-2" are refused.
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }), digits.utf8.count <= 12,
            let ratio = Double(digits), ratio <= 1
        else {
            mistakes.add(Setting.tracesRatio.name, "must be a decimal number from 0 to 1, like 0.01")
            return 0
        }
        return ratio
    }

    private mutating func tracesHeaders() -> [String: String] {
        var headers: [String: String] = [:]
        for field in list(.tracesHeaders) ?? [] {
            let parts = field.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, Self.isToken(parts[0]),
                parts[1].utf8.allSatisfy({ (0x20...0x7E).contains($0) }), headers.count < 16
            else {
                // The mistake does not repeat the value, because it can be a key.
                mistakes.add(
                    Setting.tracesHeaders.name,
                    "must be at most 16 header fields like x-api-key=secret, comma-separated")
                return [:]
            }
            headers[parts[0]] = parts[1]
        }
        return headers
    }

    /// Returns true for a token as defined in RFC 9110 §5.6.2.
    private static func isToken(_ name: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
    }
}

/// The collector for this service's spans, and the sampling ratio.
package struct TraceSettings: Sendable, Equatable {
    /// The collector's URL, including the path `/v1/traces`.
    let url: String
    /// Headers sent with each request, such as a hosted collector's API key.
    let headers: [String: String]
    /// The sampling ratio for new traces.
    let ratio: Double
    /// The spans' `service.name` attribute.
    let service: String
}

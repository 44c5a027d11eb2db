import Encodings

extension SettingsReader {
    /// Returns `nil` without a collector. Still checks the other settings of traces.
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
        // The port of OTLP over gRPC, which siwa does not speak.
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
        // Accepts only digits: not "nan", "inf", "0x1p-3" or "1e-2".
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
                // The mistake omits the value, which can be a key.
                mistakes.add(
                    Setting.tracesHeaders.name,
                    "must be at most 16 header fields like x-api-key=secret, comma-separated")
                return [:]
            }
            headers[parts[0]] = parts[1]
        }
        return headers
    }

    /// RFC 9110 §5.6.2.
    private static func isToken(_ name: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
    }
}

/// The collector of this service's spans, and the share of recorded traces.
package struct TraceSettings: Sendable, Equatable {
    /// The address with its path `/v1/traces`.
    let url: String
    /// Fields of each request, such as the key of a hosted collector.
    let headers: [String: String]
    /// Share of new traces that are recorded.
    let ratio: Double
    /// `service.name`.
    let service: String
}

import StrictJSON

/// A span in a request to a collector.
struct ExportedSpan: Sendable {
    let name: String
    let kind: Int64
    let isFailed: Bool
    /// Numbers as text.
    let attributes: [String: String]

    /// The spans of requests as a collector receives them, the oldest first.
    static func all(in requests: [String]) throws -> [ExportedSpan] {
        try requests.flatMap { request -> [ExportedSpan] in
            guard let body = request.firstRange(of: "\r\n\r\n")?.upperBound else { return [] }
            let json = try JSONValue(
                parsing: Array(request[body...].utf8), limits: JSONLimits(depth: 16, members: 256))
            return (json["resourceSpans"]?.array ?? []).flatMap { resource in
                (resource["scopeSpans"]?.array ?? []).flatMap { scope in
                    (scope["spans"]?.array ?? []).map { ExportedSpan($0) }
                }
            }
        }
    }

    private init(_ json: JSONValue) {
        name = json["name"]?.string ?? ""
        kind = json["kind"]?.integer ?? 0
        isFailed = json["status"]?["code"] == .integer(2)
        var attributes: [String: String] = [:]
        for attribute in json["attributes"]?.array ?? [] {
            let value = attribute["value"]
            attributes[attribute["key"]?.string ?? ""] =
                value?["stringValue"]?.string ?? value?["intValue"]?.string ?? ""
        }
        self.attributes = attributes
    }
}

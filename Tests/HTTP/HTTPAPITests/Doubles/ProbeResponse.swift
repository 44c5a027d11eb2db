import StrictJSON

/// A response as received.
struct ProbeResponse {
    let status: Int
    /// Header fields by name in lower case.
    let fields: [String: String]
    let body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }
    var code: String? { json?["code"]?.string }
    var json: JSONValue? { try? JSONValue(parsing: body, limits: JSONLimits(depth: 16, members: 4096)) }

    subscript(field: String) -> String? { fields[field] }
}

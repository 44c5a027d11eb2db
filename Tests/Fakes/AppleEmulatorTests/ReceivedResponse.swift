import NIOHTTP1
import StrictJSON

/// The response of an HTTP server.
struct ReceivedResponse {
    let status: Int
    let headers: HTTPHeaders
    let body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }

    /// The body as strict JSON.
    var json: JSONValue {
        get throws { try JSONValue(parsing: body, limits: JSONLimits(depth: 16, members: 128)) }
    }

    var code: String? { (try? json)?["code"]?.string }
}

import HTTPTypes
import Hummingbird
import NIOCore
import StrictJSON

/// A response of the control API in all formats. JSON ends with a line break for terminals; text is the bare
/// value, because scripts compare it.
struct ControlResponse {
    var status = HTTPResponse.Status.ok
    let json: JSONObject
    /// The most useful value of the response for a script.
    let text: String
    /// The body of a sign-in request, for identity tokens.
    var signIn: JSONObject?

    func response(_ format: ResponseFormat) -> Response {
        switch format {
        case .json:
            Self.json(status, json)
        case .signIn:
            Self.json(status, signIn ?? json)
        case .text:
            Self.response(status, "text/plain;charset=utf-8", Array(text.utf8))
        }
    }

    static func problem(_ error: EmulatorError) -> Response {
        let status = error.code.status
        var problem = JSONObject([
            ("type", .string("about:blank")), ("title", .string(status.reasonPhrase)),
            ("status", .integer(Int64(status.code))), ("code", .string(error.code.rawValue)),
        ])
        if !error.detail.isEmpty { problem["detail"] = .string(error.detail) }
        return json(status, problem, type: "application/problem+json")
    }

    private static func json(
        _ status: HTTPResponse.Status, _ object: JSONObject, type: String = "application/json"
    ) -> Response {
        response(status, type, JSONValue.object(object).serialized() + [UInt8(ascii: "\n")])
    }

    private static func response(
        _ status: HTTPResponse.Status, _ contentType: String, _ body: [UInt8]
    ) -> Response {
        Response(
            status: status, headers: [.contentType: contentType, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }
}

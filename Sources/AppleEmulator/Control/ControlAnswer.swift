import HTTPTypes
import Hummingbird
import JOSE
import NIOCore

/// The answer to a control call, in both forms. Each ends with a line break, for the sake of terminals.
struct ControlAnswer {
    var status = HTTPResponse.Status.ok
    let json: JSONObject
    /// The one thing that a script wants from this answer.
    let text: String
    /// What a backend would post on, where that makes sense.
    var signIn: JSONObject?

    func response(_ form: AnswerForm) -> Response {
        switch form {
        case .json:
            Self.response(status, "application/json", JSONValue.object(json).serialized())
        case .signIn:
            Self.response(status, "application/json", JSONValue.object(signIn ?? json).serialized())
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
        return response(status, "application/problem+json", JSONValue.object(problem).serialized())
    }

    private static func response(
        _ status: HTTPResponse.Status, _ contentType: String, _ body: [UInt8]
    ) -> Response {
        Response(
            status: status, headers: [.contentType: contentType, .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: body + [UInt8(ascii: "\n")])))
    }
}

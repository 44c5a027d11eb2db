import HTTPTypes
import Hummingbird
import NIOCore
import StrictJSON

/// Responses of the fake Google. Nothing is cached.
enum GoogleResponse {
    static func json(_ object: JSONObject, status: HTTPResponse.Status = .ok) -> Response {
        make(status, "application/json", JSONValue.object(object).serialized() + [UInt8(ascii: "\n")])
    }

    static func problem(_ error: GoogleEmulatorError) -> Response {
        let status = error.code.status
        var problem = JSONObject([
            ("type", .string("about:blank")), ("title", .string(status.reasonPhrase)),
            ("status", .integer(Int64(status.code))), ("code", .string(error.code.rawValue)),
        ])
        if !error.detail.isEmpty { problem["detail"] = .string(error.detail) }
        return make(
            status, "application/problem+json",
            JSONValue.object(problem).serialized() + [UInt8(ascii: "\n")])
    }

    /// Another page, so that reloading does not repeat what was done.
    static func seeOther(_ path: String) -> Response {
        Response(status: .seeOther, headers: [.location: path, .cacheControl: "no-store"])
    }

    static func make(
        _ status: HTTPResponse.Status, _ contentType: String, _ body: [UInt8], headers: HTTPFields = [:]
    ) -> Response {
        var fields = headers
        (fields[.contentType], fields[.cacheControl]) = (contentType, "no-store")
        return Response(
            status: status, headers: fields, body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }
}

extension GoogleEmulatorError.Code {
    var status: HTTPResponse.Status {
        switch self {
        case .configurationInvalid, .stateFileDamaged, .stateFileUnwritable, .signingFailed:
            .internalServerError
        case .pathNotFound, .linkNotFound: .notFound
        case .hostRefused: .misdirectedRequest
        case .originRefused, .browserRefused: .forbidden
        case .bodyTooLarge: .contentTooLarge
        case .bodyMalformed, .memberUnknown, .memberMalformed, .stateUnknown, .pageOutdated: .badRequest
        case .serverMissing, .tokenMissing: .conflict
        }
    }
}

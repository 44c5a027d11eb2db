package import HTTPTypes
package import Hummingbird
import NIOCore
package import StrictJSON

/// Responses of an emulator. Clients must not cache them.
extension Response {
    /// Returns JSON that ends with a line break, so that it is readable in a terminal.
    package static func json(
        _ body: some JSONMember, status: HTTPResponse.Status = .ok, type: String = "application/json"
    ) -> Response {
        uncached(status, type, body.json() + [UInt8(ascii: "\n")])
    }

    /// Returns a problem document (RFC 9457).
    package static func problem(_ error: EmulatorError) -> Response {
        let status = error.code.status
        var problem = JSONObject([
            ("type", .string("about:blank")), ("title", .string(status.reasonPhrase)),
            ("status", .integer(Int64(status.code))), ("code", .string(error.code.name)),
        ])
        if !error.detail.isEmpty { problem["detail"] = .string(error.detail) }
        return json(problem, status: status, type: "application/problem+json")
    }

    package static func uncached(
        _ status: HTTPResponse.Status, _ contentType: String, _ body: [UInt8], headers: HTTPFields = [:]
    ) -> Response {
        var fields = headers
        (fields[.contentType], fields[.cacheControl]) = (contentType, "no-store")
        return Response(
            status: status, headers: fields, body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }
}

extension Response {
    /// Redirects to another page, so that reloading does not repeat the action.
    package static func seeOther(_ path: String) -> Response {
        Response(status: .seeOther, headers: [.location: path, .cacheControl: "no-store"])
    }
}

extension JSONValue {
    /// Formats an object with one member per line, for a page.
    ///
    /// - Parameter indent: Indentation of the line on which the value begins.
    package func indented(_ indent: String = "") -> String {
        guard let object, !object.members.isEmpty else {
            return String(decoding: serialized(), as: UTF8.self)
        }
        let deeper = indent + "  "
        let members = object.members.map { member in
            let name = String(decoding: JSONValue.string(member.name).serialized(), as: UTF8.self)
            return "\(deeper)\(name): \(member.value.indented(deeper))"
        }
        return "{\n\(members.joined(separator: ",\n"))\n\(indent)}"
    }
}

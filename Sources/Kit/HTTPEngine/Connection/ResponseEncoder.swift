import NIOCore
import NIOHTTP1

/// Encodes a response as HTTP/1.1 into one buffer.
///
/// A shared body is written after it. NIO's encoder accepts any header; this service has few fields, and
/// their values have no line breaks.
enum ResponseEncoder {
    static let continueResponse: StaticString = "HTTP/1.1 100 Continue\r\n\r\n"

    static func encode(
        _ response: HTTPResponse, requestID: String, date: String, omitsBody: Bool, closes: Bool,
        into buffer: inout ByteBuffer
    ) {
        let body = omitsBody ? [] : response.body
        var size = longestFixedPart + date.utf8.count + requestID.utf8.count + body.count
        size += response.entityTag?.utf8.count ?? 0
        for field in response.fields { size += field.name.utf8CodeUnitCount + field.value.utf8.count + 4 }
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: size) { memory in
            var message = MessageBytes(memory)
            appendStatusLine(response.status, to: &message)
            appendFields(of: response, requestID: requestID, date: date, closes: closes, to: &message)
            message.append(body)
            return message.count
        }
    }

    /// Bound in bytes of the status line and of our own fields without their values.
    private static let longestFixedPart = 512

    private static func appendFields(
        of response: HTTPResponse, requestID: String, date: String, closes: Bool,
        to message: inout MessageBytes
    ) {
        if let contentType = response.contentType {
            message.append("content-type: ")
            message.append(contentType)
            message.append("\r\n")
        }
        // A 304 or 204 response has no body and no `Content-Length` (RFC 9110 §8.6).
        if response.status != .notModified, response.status != .noContent {
            message.append("content-length: ")
            message.append(response.body.count + (response.sharedBody?.readableBytes ?? 0))
            message.append("\r\n")
        }
        message.append("date: ")
        message.append(date)
        message.append("\r\nx-request-id: ")
        message.append(requestID)
        if let entityTag = response.entityTag {
            // The client may store it, but must revalidate it before each use.
            message.append("\r\ncache-control: private, no-cache\r\netag: ")
            message.append(entityTag)
        } else if response.forbidsCaching {
            message.append("\r\ncache-control: no-store")
        }
        for field in response.fields {
            message.append("\r\n")
            message.append(field.name)
            message.append(": ")
            message.append(field.value)
        }
        if closes { message.append("\r\nconnection: close") }
        message.append("\r\n\r\n")
    }

    private static func appendStatusLine(_ status: HTTPResponseStatus, to message: inout MessageBytes) {
        switch status {
        case .ok: message.append("HTTP/1.1 200 OK\r\n")
        case .created: message.append("HTTP/1.1 201 Created\r\n")
        case .unauthorized: message.append("HTTP/1.1 401 Unauthorized\r\n")
        case .serviceUnavailable: message.append("HTTP/1.1 503 Service Unavailable\r\n")
        default:
            message.append("HTTP/1.1 ")
            message.append(Int(status.code))
            message.append(" ")
            message.append(status.reasonPhrase)
            message.append("\r\n")
        }
    }
}

import NIOCore
import NIOHTTP1

/// Puts an answer into the bytes of HTTP/1.1, in one buffer.
///
/// NIO's encoder takes any header; this service has few, and knows all their values to be free of line breaks.
enum AnswerEncoder {
    static let continueResponse: StaticString = "HTTP/1.1 100 Continue\r\n\r\n"

    static func encode(
        _ answer: Answer, requestID: String, date: String, omitsBody: Bool, closes: Bool,
        into buffer: inout ByteBuffer
    ) {
        writeStatusLine(answer.status, into: &buffer)
        if let contentType = answer.contentType {
            buffer.writeStaticString("content-type: ")
            buffer.writeStaticString(contentType)
            buffer.writeStaticString("\r\n")
        }
        // A 304 has no body, and no length of one (RFC 9110 §8.6).
        if answer.status != .notModified {
            buffer.writeStaticString("content-length: ")
            writeNumber(answer.body.count, into: &buffer)
            buffer.writeStaticString("\r\n")
        }
        buffer.writeStaticString("date: ")
        buffer.writeString(date)
        buffer.writeStaticString("\r\nx-request-id: ")
        buffer.writeString(requestID)
        if let entityTag = answer.entityTag {
            // The caller may keep it, but must ask again before each use.
            buffer.writeStaticString("\r\ncache-control: private, no-cache\r\netag: ")
            buffer.writeString(entityTag)
        } else if answer.isPersonal {
            buffer.writeStaticString("\r\ncache-control: no-store")
        }
        for field in answer.fields {
            buffer.writeStaticString("\r\n")
            buffer.writeStaticString(field.name)
            buffer.writeStaticString(": ")
            buffer.writeString(field.value)
        }
        if closes { buffer.writeStaticString("\r\nconnection: close") }
        buffer.writeStaticString("\r\n\r\n")
        if !omitsBody { buffer.writeBytes(answer.body) }
    }

    private static func writeStatusLine(_ status: HTTPResponseStatus, into buffer: inout ByteBuffer) {
        switch status {
        case .ok: buffer.writeStaticString("HTTP/1.1 200 OK\r\n")
        case .created: buffer.writeStaticString("HTTP/1.1 201 Created\r\n")
        case .unauthorized: buffer.writeStaticString("HTTP/1.1 401 Unauthorized\r\n")
        default:
            buffer.writeStaticString("HTTP/1.1 ")
            writeNumber(Int(status.code), into: &buffer)
            buffer.writeStaticString(" ")
            buffer.writeString(status.reasonPhrase)
            buffer.writeStaticString("\r\n")
        }
    }

    private static func writeNumber(_ number: Int, into buffer: inout ByteBuffer) {
        // At most 15 digits are ever needed here, and a string of 15 bytes needs no allocation.
        buffer.writeString(String(number))
    }
}

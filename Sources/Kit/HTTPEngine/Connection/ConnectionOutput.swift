import Encodings
import NIOCore
import NIOHTTP1
import Synchronization

/// Writes the responses of one connection: it encodes them, collects writes until a flush, and closes the
/// connection after the last response. Use it only on the connection's event loop.
///
/// This type is a class, because a flush can change the channel's writability, and the channel then calls the
/// handler, which writes again.
final class ConnectionOutput {
    /// The handler's context; `nil` before the handler joins the pipeline and after it leaves.
    var context: ChannelHandlerContext?
    private let date: DateHeader
    private var needsFlush = false

    init(date: DateHeader) {
        self.date = date
    }

    /// False while the unread bytes exceed the limits derived from `ServerLimits.unsentBytes`.
    var isWritable: Bool { context?.channel.isWritable ?? true }

    func write(_ response: HTTPResponse, to exchange: any HTTPExchange, closes: Bool) {
        let omitsBody = exchange.omitsBody
        fill { buffer in
            ResponseEncoder.encode(
                response, to: exchange, date: self.date.text, omitsBody: omitsBody, closes: closes,
                into: &buffer)
        }
        if let body = response.sharedBody, !omitsBody { write(body) }
    }

    func writeContinue() {
        fill { $0.writeStaticString(ResponseEncoder.continueResponse) }
    }

    func flush() {
        guard needsFlush, let context else { return }
        needsFlush = false
        context.flush()
    }

    /// Closes the sending side of the connection. The connection still reads and drops the client's bytes.
    func closeOutput() {
        context?.close(mode: .output, promise: nil)
    }

    /// Closes the connection as soon as all written bytes have been sent.
    func closeWhenWritten() {
        guard let context else { return }
        needsFlush = false
        // The promise of an empty write succeeds once all earlier writes have been sent.
        let written = context.eventLoop.makePromise(of: Void.self)
        let channel = context.channel
        written.futureResult.whenComplete { _ in channel.close(promise: nil) }
        context.writeAndFlush(NIOAny(ByteBuffer()), promise: written)
    }

    private func fill(_ encode: (inout ByteBuffer) -> Void) {
        guard let context, context.channel.isActive else { return }
        var buffer = context.channel.allocator.buffer(capacity: 1024)
        encode(&buffer)
        context.write(NIOAny(buffer), promise: nil)
        needsFlush = true
    }

    private func write(_ buffer: ByteBuffer) {
        guard let context, context.channel.isActive else { return }
        context.write(NIOAny(buffer), promise: nil)
        needsFlush = true
    }
}

/// Encodes a response as HTTP/1.1 into one buffer.
///
/// The caller writes a shared body after the buffer. This encoder is simpler than NIO's, which accepts any
/// header, because the service has few header fields and their values contain no line breaks.
enum ResponseEncoder {
    static let continueResponse: StaticString = "HTTP/1.1 100 Continue\r\n\r\n"

    static func encode(
        _ response: HTTPResponse, to exchange: any HTTPExchange, date: String, omitsBody: Bool, closes: Bool,
        into buffer: inout ByteBuffer
    ) {
        let (requestID, sharedFields) = (exchange.requestID, exchange.sharedFields)
        let body = omitsBody ? [] : response.body
        var size = longestFixedPart + date.utf8.count + requestID.utf8.count + body.count
        size += sharedFields.utf8CodeUnitCount
        size += response.entityTag?.utf8.count ?? 0
        for field in response.fields { size += field.name.utf8CodeUnitCount + field.value.utf8.count + 4 }
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: size) { memory in
            var message = MessageBytes(memory)
            appendStatusLine(response.status, to: &message)
            message.append(sharedFields)
            appendFields(of: response, requestID: requestID, date: date, closes: closes, to: &message)
            message.append(body)
            return message.count
        }
    }

    /// Upper bound in bytes for the status line and our own header fields without their values.
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
        // A 304 or 204 response has no body, and therefore no `Content-Length` (RFC 9110 §8.6).
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
            // The client may store the response, but must revalidate it before each use.
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

/// Writes text into reserved memory, and never beyond its end.
///
/// It exists because NIO's buffer would check and record each of the two dozen writes of a response.
struct MessageBytes {
    private let memory: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    init(_ memory: UnsafeMutableRawBufferPointer) {
        self.memory = memory
    }

    mutating func append(_ text: StaticString) {
        append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    mutating func append(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { append($0) }
    }

    mutating func append(_ number: Int) {
        // These numbers have at most 15 digits, and a string of up to 15 bytes needs no allocation.
        append(String(number))
    }

    private mutating func append(_ bytes: UnsafeRawBufferPointer) {
        precondition(bytes.count <= memory.count - count, "more text than was announced")
        guard let source = bytes.baseAddress, let target = memory.baseAddress else { return }
        (target + count).copyMemory(from: source, byteCount: bytes.count)
        count += bytes.count
    }
}

/// Value of the `Date` header (RFC 9110 §6.6.1), formatted at most once per second.
final class DateHeader: Sendable {
    private let now: @Sendable () -> Int64
    private let last = Mutex<(second: Int64, text: String)>((Int64.min, ""))

    /// Creates the value. `now` returns the current time in milliseconds since 1970.
    init(now: @escaping @Sendable () -> Int64) {
        self.now = now
    }

    var text: String {
        let second = now() / 1000
        return last.withLock { last in
            if last.second != second { last = (second, HTTPDate.text(secondsSince1970: second)) }
            return last.text
        }
    }
}

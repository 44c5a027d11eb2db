import NIOCore
import Synchronization

/// The body of a form post. It records whether the client has begun to send it.
///
/// The client reads a streamed body only after the connection is made, including TLS, and the request head is
/// written. A body that was never read is therefore proof that Apple has not received the code or token in
/// it.
final class FormBody: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    let bytes: ByteBuffer
    private let isRead = Atomic(false)

    var wasRead: Bool { isRead.load(ordering: .acquiring) }

    /// `application/x-www-form-urlencoded`: everything but unreserved characters is percent-encoded.
    init(_ fields: [(name: String, value: String)]) {
        var bytes = ByteBuffer()
        for (index, field) in fields.enumerated() {
            if index > 0 { bytes.writeString("&") }
            bytes.writeString("\(Self.encode(field.name))=\(Self.encode(field.value))")
        }
        self.bytes = bytes
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        let body: FormBody
        var isDone = false

        mutating func next() async -> ByteBuffer? {
            if isDone { return nil }
            isDone = true
            body.isRead.store(true, ordering: .releasing)
            return body.bytes
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(body: self) }

    private static func encode(_ text: String) -> String {
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                encoded.append(byte)
            default:
                encoded.append(UInt8(ascii: "%"))
                encoded.append(digits[Int(byte >> 4)])
                encoded.append(digits[Int(byte & 15)])
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    private static let digits = Array("0123456789ABCDEF".utf8)
}

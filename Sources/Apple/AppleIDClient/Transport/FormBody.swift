import Encodings
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

    init(_ fields: [(name: String, value: String)]) {
        bytes = ByteBuffer(string: FormEncoding.encode(fields))
    }

    init(text: String) { bytes = ByteBuffer(string: text) }

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
}

import Synchronization

/// Stores the lines of the log.
final class CapturedLog: Sendable {
    private let bytes = Mutex<[UInt8]>([])

    func append(_ piece: [UInt8]) {
        bytes.withLock { $0.append(contentsOf: piece) }
    }

    var text: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }
    var lines: [Substring] { text.split(separator: "\n") }
}

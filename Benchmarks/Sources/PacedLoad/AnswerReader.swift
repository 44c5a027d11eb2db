/// Finds the status and the end of an HTTP/1.1 response with a `Content-Length`.
///
/// It works on bytes only, because with strings the load generator would not be twice as fast as the measured
/// service.
struct AnswerReader {
    enum Progress: Equatable {
        case incomplete
        /// A complete response. `closes` is true if the server accepts no further request on this connection.
        case response(status: Int, closes: Bool)
        /// The bytes are not a response that this reader understands.
        case malformed
    }

    private static let contentLength = Array("content-length:".utf8)
    private static let connectionClose = Array("connection: close".utf8)

    private var bytes: [UInt8] = []

    mutating func read(_ arrived: ArraySlice<UInt8>) -> Progress {
        bytes.append(contentsOf: arrived)
        var status: Int?
        var length: Int?
        var closes = false
        var line = 0
        while let end = bytes[line...].firstIndex(of: 0x0d) {
            guard end + 1 < bytes.count else { return .incomplete }
            if end == line {
                guard let status, let length else { return .malformed }
                return finish(at: end + 2 + length, .response(status: status, closes: closes))
            }
            if line == 0 {
                status = number(after: 9, until: 12)
            } else if begins(line, Self.contentLength) {
                length = number(after: line + Self.contentLength.count, until: end)
            } else if begins(line, Self.connectionClose) {
                closes = true
            }
            line = end + 2
        }
        return .incomplete
    }

    private mutating func finish(at end: Int, _ response: Progress) -> Progress {
        guard bytes.count >= end else { return .incomplete }
        // Each connection has only one outstanding request, so nothing may follow its response.
        guard bytes.count == end else { return .malformed }
        bytes.removeAll(keepingCapacity: true)
        return response
    }

    /// Returns true if the line at this position begins with the prefix, ignoring case.
    private func begins(_ line: Int, _ prefix: [UInt8]) -> Bool {
        guard line + prefix.count <= bytes.count else { return false }
        return prefix.indices.allSatisfy { bytes[line + $0] | 0x20 == prefix[$0] | 0x20 }
    }

    private func number(after start: Int, until end: Int) -> Int? {
        guard start < end, end <= bytes.count else { return nil }
        var number = 0
        for byte in bytes[start..<end] where byte != 0x20 {
            guard (0x30...0x39).contains(byte), number < 1_000_000_000 else { return nil }
            number = number * 10 + Int(byte - 0x30)
        }
        return number
    }
}

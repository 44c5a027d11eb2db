/// Finds where an HTTP/1.1 answer with a Content-Length ends, and its status.
struct AnswerReader {
    enum Progress: Equatable {
        case incomplete
        /// `closes`: the server will take no other request on this connection.
        case answer(status: Int, closes: Bool)
        /// Not an answer that is understood here.
        case malformed
    }

    private var bytes: [UInt8] = []

    mutating func read(_ arrived: ArraySlice<UInt8>) -> Progress {
        bytes.append(contentsOf: arrived)
        guard let bodyStart = endOfHead() else { return .incomplete }
        let head = String(decoding: bytes[..<bodyStart], as: UTF8.self).lowercased()
        guard head.hasPrefix("http/1.1 "), let status = Int(head.dropFirst(9).prefix(3)),
            let length = field("content-length", of: head).flatMap({ Int($0) })
        else { return .malformed }
        guard bytes.count >= bodyStart + length else { return .incomplete }
        guard bytes.count == bodyStart + length else { return .malformed }
        bytes.removeAll(keepingCapacity: true)
        return .answer(status: status, closes: field("connection", of: head) == "close")
    }

    private func endOfHead() -> Int? {
        guard bytes.count >= 4 else { return nil }
        for index in 0...bytes.count - 4 where bytes[index] == 0x0d {
            if bytes[index + 1] == 0x0a, bytes[index + 2] == 0x0d, bytes[index + 3] == 0x0a {
                return index + 4
            }
        }
        return nil
    }

    private func field(_ name: String, of head: String) -> Substring? {
        for line in head.split(separator: "\r\n") where line.hasPrefix("\(name):") {
            return Substring(line.dropFirst(name.count + 1).drop { $0 == " " })
        }
        return nil
    }
}

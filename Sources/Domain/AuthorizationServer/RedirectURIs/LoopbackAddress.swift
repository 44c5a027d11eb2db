/// A URI on the loopback interface, split at its port (RFC 8252 §7.3).
///
/// The two literal addresses and `localhost` are accepted. Other spellings of the address could be read
/// differently by another parser. The machine's configuration can give `localhost` another address, so it
/// matches only where it is registered; the registration decides whether it may be.
struct LoopbackAddress: Equatable {
    /// `http://127.0.0.1`, `http://[::1]` or `http://localhost`.
    private let origin: [UInt8]
    let port: UInt16?
    /// Path and query, both optional.
    let rest: [UInt8]

    private static let localhost = Array("http://localhost".utf8)
    private static let origins = ["http://127.0.0.1", "http://[::1]"].map { Array($0.utf8) } + [localhost]

    /// Returns `nil` for any other URI, and for a port that is not written as a number from 1 to 65535.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard let origin = Self.origins.first(where: bytes.starts) else { return nil }
        var rest = bytes[origin.count...]
        var port: UInt16?
        if rest.first == UInt8(ascii: ":") {
            let digits = rest.dropFirst().prefix(while: \.isDigit)
            guard let number = Self.port(digits) else { return nil }
            port = number
            rest = rest.dropFirst(1 + digits.count)
        }
        // Otherwise http://127.0.0.1.example.com and http://127.0.0.1@example.com would be loopback.
        guard rest.isEmpty || rest.first == UInt8(ascii: "/") || rest.first == UInt8(ascii: "?") else {
            return nil
        }
        self.origin = origin
        self.port = port
        self.rest = Array(rest)
    }

    var isLocalhost: Bool { origin == Self.localhost }

    func isEqualButForPort(to other: LoopbackAddress?) -> Bool {
        origin == other?.origin && rest == other?.rest
    }

    /// Accepts one spelling of each number, so that a leading zero does not match.
    static func port(_ digits: some Collection<UInt8>) -> UInt16? {
        guard (1...5).contains(digits.count), digits.first != UInt8(ascii: "0"), digits.allSatisfy(\.isDigit)
        else { return nil }
        return UInt16(String(decoding: digits, as: UTF8.self))
    }
}

import Encodings

/// The three segments of a compact JWS before encoding, as exact bytes (RFC 7515 §3.1).
public struct JWSSegments: Sendable, Equatable {
    public var header: [UInt8]
    public var payload: [UInt8]
    public var signature: [UInt8] = []

    public init(header: [UInt8], payload: [UInt8]) {
        (self.header, self.payload) = (header, payload)
    }

    /// Splits a compact serialization; returns `nil` when it is malformed. Nothing is verified.
    public init?(compact: String) {
        let parts = compact.split(separator: ".", omittingEmptySubsequences: false).map {
            $0.isEmpty ? [] : Base64URL.decode(String($0))
        }
        guard parts.count == 3, let header = parts[0], let payload = parts[1], let signature = parts[2] else {
            return nil
        }
        (self.header, self.payload, self.signature) = (header, payload, signature)
    }

    /// The input of the signature (RFC 7515 §5.1, step 8).
    public var signingInput: [UInt8] {
        Array("\(Base64URL.encode(header)).\(Base64URL.encode(payload))".utf8)
    }

    public var compact: String {
        "\(Base64URL.encode(header)).\(Base64URL.encode(payload)).\(Base64URL.encode(signature))"
    }
}

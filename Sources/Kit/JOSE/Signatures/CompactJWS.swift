// JOSE owns JSON Web Signatures, JSON Web Keys and the signatures, with OpenSSL, and libjwt for signing. It
// does not own claims or the source of keys.

import Encodings

/// A JWS in compact serialization (RFC 7515 §3.1), read strictly but not yet verified.
///
/// Everything that needs no key has been checked: three non-empty segments of canonical base64url, a header
/// in strict JSON, RS256, no parameter that brings a key, a key ID. The payload is of unknown origin until
/// `isSigned(by:)` has returned true.
public struct CompactJWS: Sendable {
    public let keyID: String
    public let payload: [UInt8]

    private let bytes: [UInt8]
    private let signingInputEnd: Int
    private let signature: [UInt8]

    /// Throws `.jwsMalformed`, `.algorithmNotAllowed`, `.headerNotAllowed` or `.keyIDInvalid`. The caller
    /// must limit the size, because time and memory are proportional to it.
    public init(parsing bytes: [UInt8]) throws(JOSEError) {
        let dot = UInt8(ascii: ".")
        let dots = bytes.withUnsafeBytes { bytes in
            WordScan.firstOffset(of: dot, in: bytes, from: 0).flatMap { first in
                WordScan.firstOffset(of: dot, in: bytes, from: first + 1).map { (first, $0) }
            }
        }
        guard let (first, second) = dots, first > 0, second > first + 1, second + 1 < bytes.count
        else {
            throw JOSEError(.jwsMalformed, detail: "not three non-empty segments")
        }
        // Another dot is outside the alphabet, so it is refused here too.
        guard let header = Base64URL.decode(bytes[..<first]),
            let payload = Base64URL.decode(bytes[(first + 1)..<second]),
            let signature = Base64URL.decode(bytes[(second + 1)...])
        else {
            throw JOSEError(.jwsMalformed, detail: "not base64url")
        }
        keyID = try JOSEHeader(parsing: header).keyID
        self.payload = payload
        self.bytes = bytes
        signingInputEnd = second
        self.signature = signature
    }

    /// Returns true if `key` has signed header and payload (RFC 7515 §5.2, RSASSA-PKCS1-v1_5 with SHA-256).
    public func isSigned(by key: RSAPublicKey) -> Bool {
        key.isValidSignature(signature, for: bytes[..<signingInputEnd])
    }
}

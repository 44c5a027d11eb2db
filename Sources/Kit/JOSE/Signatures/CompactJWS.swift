// JOSE owns JSON Web Signatures, JSON Web Keys and signature algorithms. It uses OpenSSL, and also libjwt for
// signing. It does not own claims or the source of keys.

import Encodings
import StrictJSON

/// A parsed JWS in compact serialization (RFC 7515 §3.1). Parsing is strict, but verifies no signature.
///
/// The initializer checks everything that needs no key: three non-empty segments of canonical base64url, a
/// strict JSON header, RS256, a key ID, and no parameter that contains or names a key. The origin of the
/// payload is unknown until `isSigned(by:)` has returned true.
public struct CompactJWS: Sendable {
    public let keyID: String
    public let payload: [UInt8]

    private let bytes: [UInt8]
    private let signingInputEnd: Int
    private let signature: [UInt8]

    /// Parses a token. Throws `.jwsMalformed`, `.algorithmNotAllowed`, `.headerNotAllowed` or
    /// `.keyIDInvalid`. The caller must limit the size, because time and memory are proportional to it.
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
        // The base64url alphabet contains no dot, so decoding also refuses a third dot.
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

    /// Returns true if `key` signed the header and payload (RFC 7515 §5.2, RSASSA-PKCS1-v1_5 with SHA-256).
    public func isSigned(by key: RSAPublicKey) -> Bool {
        key.isValidSignature(signature, for: bytes[..<signingInputEnd])
    }
}

/// Protected header of a compact JWS, reduced to the only part that a verifier may use: the key ID.
///
/// It does not include the algorithm: the parser refuses every algorithm except RS256, so a token cannot
/// choose its own.
struct JOSEHeader: Sendable, Equatable {
    /// `kid` (RFC 7515 §4.1.4), 1 to 64 characters.
    let keyID: String

    static let longestKeyID = 64

    init(parsing bytes: [UInt8]) throws(JOSEError) {
        var algorithm: String?
        var keyID: String?
        var carriesForbidden = false
        do throws(JSONError) {
            var reader = JSONReader(bytes)
            try reader.beginObject()
            while let name = try reader.nextMember() {
                switch name {
                case "alg": algorithm = try reader.readStringOrSkip()
                case "kid": keyID = try reader.readStringOrSkip()
                // `crit` and `b64` change how the token is interpreted (RFC 7515 §4.1.11, RFC 7797). The
                // other parameters contain or name a key that the sender chooses, so a verifier that used
                // such a key would accept tokens signed by anyone.
                case "crit", "b64", "jwk", "jku", "x5u", "x5c":
                    carriesForbidden = true
                    try reader.skipValue()
                default: try reader.skipValue()
                }
            }
            try reader.finish()
        } catch {
            throw JOSEError(.jwsMalformed, detail: "header: \(error.detail)")
        }
        guard let algorithm, algorithm.isByteEqual(to: "RS256") else {
            throw JOSEError(.algorithmNotAllowed, detail: "alg=\(algorithm ?? "none")")
        }
        guard !carriesForbidden else { throw JOSEError(.headerNotAllowed) }
        guard let keyID, (1...Self.longestKeyID).contains(keyID.characterCount) else {
            throw JOSEError(.keyIDInvalid)
        }
        self.keyID = keyID
    }
}

extension JSONReader {
    /// Reads a string, or skips a value of another kind and returns `nil`.
    fileprivate mutating func readStringOrSkip() throws(JSONError) -> String? {
        if try peekKind() == .string { return try readString() }
        try skipValue()
        return nil
    }
}

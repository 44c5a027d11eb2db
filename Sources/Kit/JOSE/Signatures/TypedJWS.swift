import Encodings
import StrictJSON

/// A parsed token of this service in compact serialization (RFC 7515 §3.1). Parsing is strict, but does not
/// verify the signature.
///
/// Its `typ` is the token kind (RFC 8725 §3.11). Verification only checks that the header names the key's own
/// algorithm, so a token cannot choose the algorithm.
public struct TypedJWS: Sendable {
    /// Size limit in bytes. This service's tokens are far shorter.
    public static let longestToken = 8192

    public let keyID: String
    /// Value of `typ` as it appears in the header; `nil` if it is absent.
    public let type: String?
    /// The token's payload. It is untrusted until `isSigned(by:)` has returned true.
    public let payload: [UInt8]

    private let algorithm: String
    private let bytes: [UInt8]
    private let signingInputEnd: Int
    private let signature: [UInt8]

    /// Parses a token. Throws `.jwsMalformed`, `.algorithmNotAllowed`, `.headerNotAllowed` or
    /// `.keyIDInvalid`.
    public init(parsing bytes: [UInt8]) throws(JOSEError) {
        guard bytes.count <= Self.longestToken else {
            throw JOSEError(.jwsMalformed, detail: "longer than \(Self.longestToken) bytes")
        }
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Base64URL.decode(parts[0]), !header.isEmpty,
            let payload = Base64URL.decode(parts[1]), !payload.isEmpty,
            let signature = Base64URL.decode(parts[2]), !signature.isEmpty
        else {
            throw JOSEError(.jwsMalformed, detail: "not three non-empty segments of base64url")
        }
        let document: JSONValue
        do throws(JSONError) {
            document = try JSONValue(parsing: header)
        } catch {
            throw JOSEError(.jwsMalformed, detail: "header: \(error.detail)")
        }
        guard let object = document.object else { throw JOSEError(.jwsMalformed, detail: "no object") }
        guard let algorithm = object["alg"]?.string,
            SignatureAlgorithm.allCases.contains(where: { $0.rawValue.isByteEqual(to: algorithm) })
        else { throw JOSEError(.algorithmNotAllowed) }
        // `crit` and `b64` change how the token is interpreted. The other parameters contain or name a key
        // that the sender chooses, so they are refused too.
        guard ["crit", "b64", "jwk", "jku", "x5u", "x5c"].allSatisfy({ object[$0] == nil }) else {
            throw JOSEError(.headerNotAllowed)
        }
        guard let keyID = object["kid"]?.string, (1...64).contains(keyID.utf8.count) else {
            throw JOSEError(.keyIDInvalid)
        }
        self.keyID = keyID
        type = object["typ"]?.string
        self.payload = payload
        self.algorithm = algorithm
        self.bytes = bytes
        signingInputEnd = parts[1].endIndex
        self.signature = signature
    }

    /// Returns true if `key` signed the header and payload, and the header names the key's algorithm.
    public func isSigned(by key: TokenVerificationKey) -> Bool {
        algorithm.isByteEqual(to: key.algorithm.rawValue)
            && key.isValidSignature(signature, for: bytes[..<signingInputEnd])
    }

    /// Signs a payload. The header contains `alg`, `typ` and `kid`. Throws `.signingFailed` if the signing
    /// library fails.
    public static func sign(
        _ payload: [UInt8], type: StaticString, with key: TokenSigningKey
    ) throws(JOSEError) -> String {
        var header = JSONWriter(reservingCapacity: 128)
        header.beginObject()
        header.member("alg", key.algorithm.rawValue)
        header.member("typ", type.description)
        header.member("kid", key.keyID)
        header.endObject()
        let input = JWSSegments(header: header.bytes, payload: payload).signingInput
        let signature = try key.signature(for: input)
        return String(decoding: input, as: UTF8.self) + "." + Base64URL.encode(signature)
    }
}

/// The three segments of a compact JWS before encoding, as exact bytes (RFC 7515 §3.1).
public struct JWSSegments: Sendable, Equatable {
    public var header: [UInt8]
    public var payload: [UInt8]
    public var signature: [UInt8] = []

    public init(header: [UInt8], payload: [UInt8]) {
        (self.header, self.payload) = (header, payload)
    }

    /// Splits a compact serialization. Returns `nil` if it is malformed. It verifies no signature.
    public init?(compact: String) {
        let parts = compact.split(separator: ".", omittingEmptySubsequences: false).map {
            $0.isEmpty ? [] : Base64URL.decode(String($0))
        }
        guard parts.count == 3, let header = parts[0], let payload = parts[1], let signature = parts[2] else {
            return nil
        }
        (self.header, self.payload, self.signature) = (header, payload, signature)
    }

    /// Signing input (RFC 7515 §5.1, step 8).
    public var signingInput: [UInt8] {
        Array("\(Base64URL.encode(header)).\(Base64URL.encode(payload))".utf8)
    }

    public var compact: String {
        "\(Base64URL.encode(header)).\(Base64URL.encode(payload)).\(Base64URL.encode(signature))"
    }
}

/// Compares a token's times with our clock (RFC 7519 §4.1.4 to §4.1.6). All issuers' tokens use this check.
///
/// All times are seconds since 1970 within the years 1970 to 9999, so that no sum can overflow.
public struct TokenTimeCheck: Sendable, Hashable {
    /// Tolerated difference between the issuer's clock and ours, in seconds.
    public let leeway: Int64

    public init(leeway: Int64) {
        self.leeway = leeway
    }

    /// Returns true until `exp` plus the leeway.
    public func isUnexpired(_ expiresAt: Int64, at now: Int64) -> Bool { now < expiresAt + leeway }

    /// Returns true if the time is at or after `nbf` minus the leeway, or if there is no `nbf`.
    public func isValid(notBefore: Int64?, at now: Int64) -> Bool {
        notBefore.map { $0 <= now + leeway } ?? true
    }

    /// Returns true unless a time that should be in the past, such as `iat` or `auth_time`, is ahead of our
    /// clock by more than the leeway.
    public func isPast(_ moment: Int64, at now: Int64) -> Bool { moment <= now + leeway }
}

public import JOSE
public import StrictJSON
import Synchronization

/// Creates the tokens that Apple would issue, signed with a test key that exists only as long as the process.
///
/// All tests use the key pair of `TokenMint.shared`, because generating one is slow. Every part of a token
/// can be changed.
public struct TokenMint: Sendable {
    public static let shared = TokenMint()

    /// 2026-01-01T00:00:00Z: the time at which sample tokens are signed.
    public static let sampleTime: Int64 = 1_767_225_600
    public static let clientID = "com.example.app"
    public static let subject = "001234.0123456789abcdef0123456789abcdef.0123"

    public let keyID: String
    public let privateKey: RSAPrivateKey

    public init(keyID: String = "MINTKEY1") {
        self.keyID = keyID
        do {
            privateKey = try RSAPrivateKey.generate(primes: 3)
        } catch {
            preconditionFailure("no test key: \(error)")
        }
    }

    /// The claims of a valid identity token. Set a member to change it, or to `nil` to leave it out.
    public static func identityClaims(at time: Int64 = sampleTime) -> JSONObject {
        JSONObject([
            ("iss", .string("https://appleid.apple.com")), ("aud", .string(clientID)),
            ("exp", .integer(time + 86400)), ("iat", .integer(time)), ("sub", .string(subject)),
            ("email", .string("q4zjk7x2rt@privaterelay.appleid.com")), ("email_verified", .bool(true)),
            ("is_private_email", .bool(true)), ("auth_time", .integer(time)),
            ("nonce_supported", .bool(true)),
            ("real_user_status", .integer(2)),
        ])
    }

    /// The claims of a valid notification, in which `events` is the JSON string that Apple sends.
    public static func notificationClaims(
        type: String = "consent-revoked", at time: Int64 = sampleTime, event: JSONObject? = nil
    ) -> JSONObject {
        let event =
            event
            ?? JSONObject([
                ("type", .string(type)), ("sub", .string(subject)), ("event_time", .integer(time * 1000)),
            ])
        return JSONObject([
            ("iss", .string("https://appleid.apple.com")), ("aud", .string(clientID)),
            ("exp", .integer(time + 86400)), ("iat", .integer(time)),
            ("jti", .string("G2NcvZVDpFwSdQFbowCEpQ")),
            ("events", .string(String(decoding: JSONValue.object(event).serialized(), as: UTF8.self))),
        ])
    }

    /// Signs the claims exactly as given, with a header that has only `kid` and `alg`.
    public func sign(_ claims: JSONObject) throws -> String {
        let header = JSONObject([("kid", .string(keyID)), ("alg", .string("RS256"))])
        var segments = JWSSegments(
            header: JSONValue.object(header).serialized(), payload: JSONValue.object(claims).serialized())
        segments.signature = try privateKey.signature(for: segments.signingInput)
        return segments.compact
    }

    /// Signs the claims with libjwt, which sorts them and adds `typ` to the header.
    public func signWithLibJWT(_ claims: JSONObject) throws -> String {
        try JWTSigner.sign(claims: claims, keyID: keyID, algorithm: .RS256, key: privateKey.pem)
    }

    /// Returns a function that makes the signing keys of a service. Its RS256 keys are those of all other such
    /// services of the process.
    public static func serviceKeys() -> @Sendable (SignatureAlgorithm) throws(JOSEError) -> String {
        let count = Mutex(0)
        return { algorithm throws(JOSEError) in
            guard algorithm == .RS256 else { return try TokenSigningKey.makePEM(for: algorithm) }
            let index = count.withLock { count in
                defer { count += 1 }
                return count
            }
            return try knownServiceKeys.withLock { keys throws(JOSEError) in
                // Another call may have taken the number before this one, and wait for the lock.
                while keys.count <= index { keys.append(try TokenSigningKey.makePEM(for: .RS256)) }
                return keys[index]
            }
        }
    }

    private static let knownServiceKeys = Mutex<[String]>([])

    /// The key set as Apple's endpoint returns it.
    public var keySet: [UInt8] {
        JSONValue.object(JSONObject([("keys", .array([.object(privateKey.publicJWK(keyID: keyID))]))]))
            .serialized()
    }
}

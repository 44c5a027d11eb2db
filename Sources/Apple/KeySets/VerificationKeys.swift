// KeySets owns the source and the lifetime of verification keys: the remote key set with its cache, the
// pinned key set, and the protocols that they need (source, snapshot store, clock). It does not own HTTP, a
// database, or any rule about tokens.

public import AppleIdentity
public import Encodings
public import JOSE

/// Finds the public key that a token names.
///
/// Keys come from the last good set: a key that has been removed from the set is not found.
public protocol VerificationKeys: Sendable {
    /// The hot path: no suspension, no allocation, no fetch. Returns `nil` when no usable key in the cache
    /// has this ID. Only `key(for:)` distinguishes an unknown key from a key that is not yet fetched.
    func cachedKey(for keyID: String) -> RSAPublicKey?

    /// Finds the key, and may wait for a new or running fetch. Throws `.unknownKey` when a fetch has looked
    /// for the key and not found it, and `.keysUnavailable` when this cannot be decided now.
    func key(for keyID: String) async throws(KeySetError) -> RSAPublicKey

    /// Finds the key of a token with this claimed time of issue. A token that is older than the last
    /// fetch has no key that this fetch could not find.
    ///
    /// - Parameter issuedAt: `iat`, unverified; `nil` when the token has none.
    func key(for keyID: String, issuedAt: NumericDate?) async throws(KeySetError) -> RSAPublicKey

    /// The health, for readiness and metrics.
    var health: KeySetHealth { get }
}

extension VerificationKeys {
    /// Finds the key. For sets that do not fetch, for which the age of a token decides nothing.
    public func key(for keyID: String, issuedAt: NumericDate?) async throws(KeySetError) -> RSAPublicKey {
        try await key(for: keyID)
    }
}

extension IdentityTokenVerifier {
    /// Verifies a token as the app sent it, with the key that the token names.
    ///
    /// For Swift servers that verify in process. The verification first checks everything that needs no key,
    /// so that a malformed token never causes a fetch:
    /// ```swift
    /// let keys = RemoteKeySet(source: HTTPKeySetSource(client: httpClient))    // one for the whole process
    /// let verifier = IdentityTokenVerifier(policy: VerificationPolicy(clientIDs: ["com.example.app"]))
    /// let user = try await verifier.verify(
    ///     token, keys: keys, expecting: .init(), at: SystemKeySetClock().now)
    /// ```
    /// Throws `AppleTokenError` when the token is refused, and `KeySetError` with `.keysUnavailable` when the
    /// key cannot be fetched now.
    public func verify(
        _ compact: String, keys: some VerificationKeys, expecting expectations: IdentityTokenExpectations,
        at now: NumericDate
    ) async throws -> VerifiedIdentity {
        let token = try UnverifiedToken(compact)
        return try verify(token, with: try await keys.key(of: token), expecting: expectations, at: now)
    }
}

extension NotificationVerifier {
    /// Verifies the `payload` of a server-to-server notification with the key that it names.
    ///
    /// Throws `AppleTokenError` when the notification is refused, and `KeySetError` with `.keysUnavailable`
    /// when the key cannot be fetched now: respond to Apple with 503, so that it delivers the notification
    /// again.
    public func verify(
        _ compact: String, keys: some VerificationKeys, at now: NumericDate
    ) async throws -> VerifiedNotification {
        let token = try UnverifiedToken(compact)
        return try verify(token, with: try await keys.key(of: token), at: now)
    }
}

extension VerificationKeys {
    /// Returns the key that a token names. An unknown key is an error of the token and becomes an
    /// `AppleTokenError`; only `.keysUnavailable` stays a `KeySetError`.
    package func key(of token: UnverifiedToken) async throws -> RSAPublicKey {
        do throws(KeySetError) {
            return try await key(for: token.keyID, issuedAt: token.claimedIssuedAt)
        } catch {
            switch error.code {
            case .unknownKey: throw AppleTokenError(.unknownKey)
            case .keysUnavailable: throw error
            }
        }
    }
}

/// Reason for a missing key. Match on `code`; equality is on `code`.
public typealias KeySetError = KeySetFailure<KeySetErrorCode>

public enum KeySetErrorCode: String, KeySetFailureCode {
    public static let subject = "no verification key"

    /// A fetch has looked for this ID and not found it, or the token is older than the set: the token is not
    /// Apple's.
    case unknownKey = "unknown_key"
    /// The set is unusable, or no fetch has looked for this key. The token may be Apple's; the
    /// caller should retry after `retryAfter` seconds.
    case keysUnavailable = "keys_unavailable"
}

/// Codes of a failure to get keys.
public protocol KeySetFailureCode: RawRepresentable<String>, Equatable, Sendable, CaseIterable {
    /// The first words of the message.
    static var subject: String { get }
}

/// A failure to get keys, with its code. Match on `code`; equality is on `code`.
public struct KeySetFailure<Code: KeySetFailureCode>: CodedError, CustomDebugStringConvertible {
    public let code: Code
    public let detail: String
    /// Seconds until the next attempt to get keys; `nil` when the time is not known.
    public let retryAfter: Int?

    public init(_ code: Code, detail: String = "", retryAfter: Int? = nil) {
        (self.code, self.detail, self.retryAfter) = (code, detail, retryAfter)
    }

    // Repeated here, because a file that does not import `Encodings` would use the comparison of all members.
    public static func == (lhs: Self, rhs: Self) -> Bool { lhs.code == rhs.code }

    public var description: String { "\(Code.subject): \(code.rawValue)" }
    public var debugDescription: String { "\(description) (\(detail))" }
}

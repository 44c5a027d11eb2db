// KeySets owns the source and lifetime of verification keys: the remote key set with its cache, the pinned
// key set, and the protocols that they need (source, snapshot store, clock). It contains no HTTP or database
// code, and no rules about tokens.

public import AppleIdentity
public import Encodings
public import JOSE

/// Finds the public key that a token names.
///
/// Keys come from the last good set. A key that Apple has removed from the set is not found.
public protocol VerificationKeys: Sendable {
    /// Returns a cached key without suspending, allocating or fetching, because this is the hot path. Returns
    /// `nil` if the cache has no usable key with this ID. Only `key(for:)` can distinguish an unknown key
    /// from a key that no fetch has received yet.
    func cachedKey(for keyID: String) -> RSAPublicKey?

    /// Finds the key, possibly waiting for a new or running fetch. Throws `.unknownKey` if a fetch did not
    /// find the key, and `.keysUnavailable` if no fetch can find out now.
    func key(for keyID: String) async throws(KeySetError) -> RSAPublicKey

    /// Finds the key for a token that claims this issue time. If the set in use was fetched after the token
    /// was issued, a key that the set lacks is unknown, even if no further fetch can run now.
    ///
    /// - Parameter issuedAt: `iat`, unverified; `nil` if the token has none.
    func key(for keyID: String, issuedAt: NumericDate?) async throws(KeySetError) -> RSAPublicKey

    /// The key set's health, for readiness and metrics.
    var health: KeySetHealth { get }
}

extension VerificationKeys {
    /// Finds the key, ignoring `issuedAt`. This is for key sets that never fetch, where a token's age does
    /// not matter.
    public func key(for keyID: String, issuedAt: NumericDate?) async throws(KeySetError) -> RSAPublicKey {
        try await key(for: keyID)
    }
}

extension IdentityTokenVerifier {
    /// Verifies a token as the app sent it, with the key that the token names.
    ///
    /// This function is for Swift servers that verify tokens in their own process. It first checks everything
    /// that needs no key, so a malformed token never causes a fetch:
    /// ```swift
    /// let keys = RemoteKeySet(source: HTTPKeySetSource(client: httpClient))    // one for the whole process
    /// let verifier = IdentityTokenVerifier(policy: VerificationPolicy(clientIDs: ["com.example.app"]))
    /// let user = try await verifier.verify(
    ///     token, keys: keys, expecting: .init(), at: SystemKeySetClock().now)
    /// ```
    /// Throws `AppleTokenError` if the token is refused, and `KeySetError` with `.keysUnavailable` if the key
    /// cannot be fetched now.
    public func verify(
        _ compact: String, keys: some VerificationKeys, expecting expectations: IdentityTokenExpectations,
        at now: NumericDate
    ) async throws -> VerifiedIdentity {
        let token = try UnverifiedToken(compact)
        return try verify(token, with: try await keys.key(of: token), expecting: expectations, at: now)
    }
}

extension NotificationVerifier {
    /// Verifies a server-to-server notification's `payload` with the key that it names.
    ///
    /// Throws `AppleTokenError` if the notification is refused, and `KeySetError`
    /// with `.keysUnavailable` if the key cannot be fetched now. In that case
    /// respond to Apple with 503, so that Apple redelivers the notification.
    public func verify(
        _ compact: String, keys: some VerificationKeys, at now: NumericDate
    ) async throws -> VerifiedNotification {
        let token = try UnverifiedToken(compact)
        return try verify(token, with: try await keys.key(of: token), at: now)
    }
}

extension VerificationKeys {
    /// Returns the key that a token names. An unknown key means that the token is invalid, so it becomes an
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

/// The reason why a key is missing. Match on `code`; equality is on `code`.
public typealias KeySetError = KeySetFailure<KeySetErrorCode>

public enum KeySetErrorCode: String, KeySetFailureCode {
    public static let subject = "no verification key"

    /// A fetch did not find this ID, or the token is older than the set, so the token is not Apple's.
    case unknownKey = "unknown_key"
    /// The set is unusable, or no fetch has looked for this key yet, so the token may still be Apple's. The
    /// caller should retry after `retryAfter` seconds, if it is set.
    case keysUnavailable = "keys_unavailable"
}

/// Error codes for failures to get keys.
public protocol KeySetFailureCode: RawRepresentable<String>, Equatable, Sendable, CaseIterable {
    /// The first words of the message.
    static var subject: String { get }
}

/// A failure to get keys, with its code. Match on `code`; equality is on `code`.
public struct KeySetFailure<Code: KeySetFailureCode>: CodedError, CustomDebugStringConvertible {
    public let code: Code
    public let detail: String
    /// Seconds until the next attempt to get keys; `nil` if unknown.
    public let retryAfter: Int?

    public init(_ code: Code, detail: String = "", retryAfter: Int? = nil) {
        (self.code, self.detail, self.retryAfter) = (code, detail, retryAfter)
    }

    // This repeats the comparison from `CodedError`, because otherwise a file that does not import
    // `Encodings` would compare all members.
    public static func == (lhs: Self, rhs: Self) -> Bool { lhs.code == rhs.code }

    public var description: String { "\(Code.subject): \(code.rawValue)" }
    public var debugDescription: String { "\(description) (\(detail))" }
}

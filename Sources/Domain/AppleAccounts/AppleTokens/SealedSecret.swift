/// A sealed Apple secret: a refresh token or an authorization code. This module can neither seal nor open it.
public struct SealedSecret: Sendable, Hashable {
    public static let longest = 16384

    /// 1 to `longest` bytes.
    public let bytes: [UInt8]

    /// Returns `nil` if there are no bytes, or more than `longest`.
    public init?(_ bytes: [UInt8]) {
        guard (1...Self.longest).contains(bytes.count) else { return nil }
        self.bytes = bytes
    }
}

extension SealedSecret: CustomStringConvertible {
    /// Shows the size but not the bytes, which must not reach a log even when sealed.
    public var description: String { "sealed secret of \(bytes.count) bytes" }
}

/// Purpose of a sealed secret. The raw values are part of the authenticated data and never change.
public enum SealedPurpose: String, Sendable, Hashable, CaseIterable {
    case authorizationCode = "authorization_code"
    case refreshToken = "refresh_token"
}

/// A sealed secret with the purpose, account and client ID that it is bound to.
public struct SealedRow: Sendable, Hashable {
    /// Position just after this row.
    public let cursor: SealedCursor
    public let purpose: SealedPurpose
    public let accountID: AccountID
    public let clientID: ClientID
    public let sealed: SealedSecret

    public init(
        cursor: SealedCursor, purpose: SealedPurpose, accountID: AccountID, clientID: ClientID,
        sealed: SealedSecret
    ) {
        self.cursor = cursor
        self.purpose = purpose
        self.accountID = accountID
        self.clientID = clientID
        self.sealed = sealed
    }
}

/// A position in the sequence of all sealed secrets in a store.
///
/// Secrets only move forward, from codes to tokens to erasures, so a walk may see a moving secret twice, but
/// never misses it.
public struct SealedCursor: Sendable, Hashable {
    public enum Place: Int64, Sendable, Hashable, CaseIterable {
        case code = 1
        case token, erasure
    }

    public let place: Place
    /// ID of the code or of the erasure entry; for a token, the account ID.
    public let id: UniqueID
    /// Client ID; only for a token.
    public let clientID: ClientID?

    public init(place: Place, id: UniqueID, clientID: ClientID? = nil) {
        (self.place, self.id, self.clientID) = (place, id, clientID)
    }
}

/// A sealed secret as it was read, with its replacement.
public struct SealedChange: Sendable, Hashable {
    public let row: SealedRow
    public let sealed: SealedSecret

    public init(_ row: SealedRow, to sealed: SealedSecret) {
        (self.row, self.sealed) = (row, sealed)
    }
}

/// An authorization code or refresh token as Apple issued
/// it, before it is sealed. It is never stored or logged.
public struct AppleTokenSecret: Sendable, Hashable {
    /// Maximum size in UTF-8 bytes. Apple's codes and tokens are far shorter.
    public static let longest = 8192

    public let text: String

    /// Returns `nil` for text that is empty, or too long to be Apple's.
    public init?(_ text: String) {
        guard (1...Self.longest).contains(text.utf8.count) else { return nil }
        self.text = text
    }
}

extension AppleTokenSecret: CustomStringConvertible, CustomReflectable {
    /// Shows the size but not the text, which must not reach a log.
    public var description: String { "secret of \(text.utf8.count) bytes" }

    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Seals the plain secrets that a store receives. Every store is opened with a sealer.
public protocol AppleTokenSealing: Sendable {
    /// Seals a secret for a purpose, account and client ID. The secret can be opened only for the same three
    /// values.
    ///
    /// Stores call this function within the transaction when they write the row, and again if they have to
    /// repeat the transaction, so it must not block.
    /// - Throws: `StorageError` `valueRefused` if there is no sealing key. In that case, only the command
    ///   that contains the secret fails.
    func seal(
        _ secret: AppleTokenSecret, as purpose: SealedPurpose, of account: AccountID, clientID: ClientID
    ) throws(StorageError) -> SealedSecret
}

extension AppleTokenSealing {
    /// Returns the row for a new code.
    public func seal(_ code: NewAuthorizationCode) throws(StorageError) -> AuthorizationCodeRecord {
        let offer = code.offer
        return AuthorizationCodeRecord(
            id: offer.id, accountID: code.accountID, clientID: offer.clientID,
            primaryClientID: code.primaryClientID, redirectURI: offer.redirectURI,
            sealed: try seal(
                offer.secret, as: .authorizationCode, of: code.accountID, clientID: offer.clientID),
            authorizedAt: code.authorizedAt, receivedAt: code.nextAttemptAt, expiresAt: offer.expiresAt,
            nextAttemptAt: code.nextAttemptAt)
    }
}

/// Refuses every secret, for a store that never receives a code or has no key.
public struct NoAppleTokenSealing: AppleTokenSealing {
    public init() {}

    public func seal(
        _ secret: AppleTokenSecret, as purpose: SealedPurpose, of account: AccountID, clientID: ClientID
    ) throws(StorageError) -> SealedSecret {
        throw StorageError(
            .valueRefused,
            detail: "expected a sealing key for an authorization code, found none; open the store with one")
    }
}

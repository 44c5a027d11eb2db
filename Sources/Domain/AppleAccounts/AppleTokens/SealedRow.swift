/// A sealed secret with the purpose, account and client ID that it is bound to.
public struct SealedRow: Sendable, Hashable {
    /// Position after this row.
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

/// A position in the sequence of all sealed secrets of a store.
///
/// Secrets only move forward, from codes to tokens to erasures, so a secret that moves during a walk is seen
/// twice rather than missed.
public struct SealedCursor: Sendable, Hashable {
    public enum Place: Int64, Sendable, Hashable, CaseIterable {
        case code = 1
        case token, erasure
    }

    public let place: Place
    /// ID of the code or of the erasure's entry; the account's ID for a token.
    public let id: UniqueID
    /// Only for a token.
    public let clientID: ClientID?

    public init(place: Place, id: UniqueID, clientID: ClientID? = nil) {
        (self.place, self.id, self.clientID) = (place, id, clientID)
    }
}

/// A sealed secret as it was read, and its replacement.
public struct SealedChange: Sendable, Hashable {
    public let row: SealedRow
    public let sealed: SealedSecret

    public init(_ row: SealedRow, to sealed: SealedSecret) {
        (self.row, self.sealed) = (row, sealed)
    }
}

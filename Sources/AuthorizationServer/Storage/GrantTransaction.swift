public import AppleAccounts
package import Cryptography

/// What the rules read and write inside one transaction. A store implements it; `GrantRules` calls it.
///
/// Locks are taken in one order: the account, its grants, lines and codes. `standing` is called before any
/// other read that locks, because commands about accounts lock their subjects first.
package protocol GrantTransaction {
    /// Reads and locks an account against its revocation, erasure and transfer until the end of the
    /// transaction. `nil` when there is none, or it was erased.
    mutating func standing(of id: AccountID, app: ClientID) throws -> AccountStanding?

    /// The account that a code, line or grant belongs to, without a lock, to find what to lock first.
    mutating func owner(ofCode digest: SHA256Digest) throws -> GrantOwner?
    mutating func owner(ofLine id: UniqueID) throws -> GrantOwner?
    mutating func owner(ofGrant id: GrantID) throws -> GrantOwner?
    /// Of every line that a refresh token with this digest is the current one of.
    mutating func owners(ofTokenWithDoubleSHA512 digest: [UInt8]) throws -> [GrantOwner]
    mutating func owners(ofGoogleSubject subject: String) throws -> [GrantOwner]

    /// With a lock.
    mutating func grant(_ id: GrantID) throws -> GrantRecord?
    mutating func grant(of account: AccountID, for client: OAuthClientID) throws -> GrantRecord?
    /// Of one account and app, or of all apps.
    mutating func grants(of account: AccountID, app: ClientID?) throws -> [GrantRecord]
    /// The oldest first.
    mutating func lines(of grant: GrantID) throws -> [TokenLine]
    /// The lines of all native clients of an account that have a refresh token, the oldest first.
    mutating func nativeLines(of account: AccountID) throws -> [TokenLine]
    mutating func line(_ id: UniqueID) throws -> TokenLine?
    mutating func code(_ digest: SHA256Digest) throws -> CodeRecord?
    mutating func isDisabled(googleSubject: String) throws -> Bool

    mutating func insert(_ grant: GrantRecord) throws
    mutating func update(_ grant: GrantRecord) throws
    /// With its lines and codes.
    mutating func remove(_ grant: GrantRecord) throws
    mutating func insert(_ line: TokenLine) throws
    mutating func update(_ line: TokenLine) throws
    mutating func removeLine(_ id: UniqueID) throws
    mutating func insert(_ code: CodeRecord) throws
    mutating func update(_ code: CodeRecord) throws
    /// Those of a grant that were authorized up to a moment and are not redeemed.
    mutating func removeCodes(of grant: GrantID, authorizedUpTo moment: Moment) throws
    mutating func insert(_ delivery: SecurityEventDelivery) throws
    /// Returns `false` when one of this `jti` is kept already.
    mutating func keep(_ event: GoogleEventCommand) throws -> Bool
    /// Keeps the later word about a Google account, whatever the order.
    mutating func setGoogleAccount(_ subject: String, isDisabled: Bool, at moment: Moment) throws
    mutating func append(_ event: AccountEvent) throws
    /// A random UUID of version 7.
    mutating func makeID(at moment: Moment) -> UniqueID
}

/// Whose a code, line or grant is, and for which app.
public struct GrantOwner: Sendable, Hashable {
    public let grantID: GrantID
    public let accountID: AccountID
    public let clientID: ClientID

    public init(grantID: GrantID, accountID: AccountID, clientID: ClientID) {
        (self.grantID, self.accountID, self.clientID) = (grantID, accountID, clientID)
    }
}

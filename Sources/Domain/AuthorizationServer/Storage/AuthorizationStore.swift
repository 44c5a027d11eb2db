public import AppleAccounts
public import Cryptography

/// Stores grants, codes and token families in the account database, in the account transactions.
///
/// Only digests of codes and tokens are stored. When a notification, an erasure or a transfer permanently
/// ends or moves a credential, its grants end or move in the same transaction (`GrantEnding`).
///
/// Commands for the same account run one after the other, even on different replicas, because each
/// transaction locks its accounts before it reads. The locks block other grant commands and commands that end
/// credentials.
public protocol AuthorizationStore: Sendable {
    /// Applies the commands in order, in one transaction. Calls `completion` exactly once, on any thread,
    /// after the transaction has become durable. A refused command affects no other command and changes
    /// nothing, except as documented for its refusal code.
    func commit(
        _ commands: [GrantCommand],
        completion: @escaping @Sendable (Result<GrantCommitResult, any Error>) -> Void)

    /// Returns the token status. Returns `nil` if the token family or its grant has ended.
    func status(ofFamily id: UniqueID) async throws -> TokenStatus?

    /// Returns the account status. Returns `nil` if the account does not exist or was erased.
    func status(of account: AccountID, app: ClientID) async throws -> AccountStatus?

    func grants(of account: AccountID) async throws -> [GrantRecord]

    func grant(of account: AccountID, for client: OAuthClientID) async throws -> GrantRecord?

    /// Returns the grant pace for an account and a client; `nil` if no pace is stored.
    func pace(of account: AccountID, for client: OAuthClientID) async throws -> GrantPace?

    /// Returns the device authorization with this user code, even if it has expired or was denied. Returns
    /// `nil` if there is none, or if the user has agreed.
    func device(withUserCode digest: SHA256Digest) async throws -> DeviceAuthorization?

    /// Returns the account of the client's newest token family that began with an assertion about this Google
    /// account. Returns `nil` if there is none. Families whose Google account was learned later are ignored.
    func account(linkedWith googleSubject: String, for client: OAuthClientID) async throws -> AccountID?

    /// Returns an app's account with this verified address. The address must not be a known private relay
    /// address. Accounts created by a Google account are never returned, but still count as accounts with the
    /// address.
    ///
    /// - Returns: `nil` if no account has the address, or if several accounts have it across the team's apps.
    func account(withVerifiedEmail email: String, app: ClientID, team: TeamID) async throws -> AccountID?

    func isDisabled(googleSubject: String) async throws -> Bool

    /// Returns the arrival time of Google's latest security event. Returns `nil` if no event is stored.
    func lastGoogleEvent() async throws -> Moment?

    /// Returns the arrival time of the verification with this state. Returns `nil` if it is not stored.
    func googleVerification(_ state: String) async throws -> Moment?

    /// Deletes expired rows: codes a day after their expiry, expired token families, device authorizations
    /// two minutes after their expiry, grant paces after an hour, and Google's statements after 30 days,
    /// except statements about disabled Google accounts. Also erases the salts of exchanged refresh tokens
    /// once the client may no longer repeat the exchange. Each call processes a limited number of rows of
    /// each kind, and returns the number of rows that it deleted or changed.
    func purgeGrants(at moment: Moment) async throws -> Int

    /// Returns the signing keys, newest first. Their private keys are sealed; see `SigningKeyRecord`.
    func signingKeys() async throws -> [SigningKeyRecord]

    /// Stores the key unless a key for the same algorithm was created at or after `moment`, and returns all
    /// stored keys. If several replicas offer keys at the same time, only one is accepted.
    func offerSigningKey(_ key: SigningKeyRecord, unlessMadeAfter moment: Moment) async throws
        -> [SigningKeyRecord]

    func removeSigningKeys(retiredBefore moment: Moment) async throws -> Int

    /// Removes this key before its retirement, and writes an audit log entry with the origin. Returns false
    /// if the record has been changed or deleted since the caller read it.
    func removeSigningKey(_ key: SigningKeyRecord, by origin: AuditOrigin, at moment: Moment) async throws
        -> Bool

    /// Replaces this record's sealed private key. Returns false if the record has been changed or deleted
    /// since the caller read it.
    func replaceSealed(_ key: SigningKeyRecord, with sealed: SealedSecret) async throws -> Bool
}

/// The result of a batch of grant commands.
public struct GrantCommitResult: Sendable {
    /// The commands' results, in order.
    public let results: [Result<GrantOutcome, any Error>]
    /// The sequence number of the batch's last account event. `nil` if the batch created no events.
    public let lastEventSequence: Int64?

    public init(results: [Result<GrantOutcome, any Error>], lastEventSequence: Int64?) {
        (self.results, self.lastEventSequence) = (results, lastEventSequence)
    }
}

extension GrantCommitResult: CommittedBatch {
    public static func failure(_ error: StorageError) -> Result<GrantOutcome, any Error> { .failure(error) }

    public static func outcome(
        _ result: Result<GrantOutcome, any Error>
    ) -> Result<GrantOutcome, any Error> { result }
}

/// A token signing key, in its stored form.
public struct SigningKeyRecord: Sendable, Hashable {
    /// The thumbprint of the public key (RFC 7638), which is the `kid`.
    public let keyID: String
    /// "ES256" or "RS256".
    public let algorithm: String
    /// The private key (PKCS #8), sealed for this `keyID`.
    public var sealed: SealedSecret
    /// The public key as a JWK in UTF-8.
    public let publicKey: [UInt8]
    public let createdAt: Moment
    /// The time when the key starts to sign. Until then the service only publishes the key, so that verifiers
    /// know it in time.
    public let signsFrom: Moment
    /// The time when the service stops publishing the key.
    public let retiresAt: Moment

    public init(
        keyID: String, algorithm: String, sealed: SealedSecret, publicKey: [UInt8], createdAt: Moment,
        signsFrom: Moment, retiresAt: Moment
    ) {
        self.keyID = keyID
        self.algorithm = algorithm
        self.sealed = sealed
        self.publicKey = publicKey
        self.createdAt = createdAt
        self.signsFrom = signsFrom
        self.retiresAt = retiresAt
    }
}

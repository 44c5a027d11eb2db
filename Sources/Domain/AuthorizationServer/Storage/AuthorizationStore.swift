public import AppleAccounts
public import Cryptography

/// Stores grants, codes and token families, with the accounts and in their transactions.
///
/// Stores only digests of codes and tokens. When a notification, an erasure or a transfer ends or moves a
/// credential permanently, the store ends or moves its grants in the same transaction (`GrantEnding`).
///
/// Commands of one account run one after the other, even at different replicas: each transaction locks the
/// accounts before it reads. The locks exclude other grant commands, and commands that end credentials.
public protocol AuthorizationStore: Sendable {
    /// Applies the commands in their order, in one transaction, and calls `completion` once, later, on any
    /// thread, when the transaction is durable. A refused command changes nothing, except the changes that
    /// its code names, and does not affect the others.
    func commit(
        _ commands: [GrantCommand],
        completion: @escaping @Sendable (Result<GrantCommitResult, any Error>) -> Void)

    /// Returns the status; `nil` when the token family or its grant has ended.
    func status(ofFamily id: UniqueID) async throws -> TokenStatus?

    /// Returns the status; `nil` when the account does not exist or was erased.
    func status(of account: AccountID, app: ClientID) async throws -> AccountStatus?

    func grants(of account: AccountID) async throws -> [GrantRecord]

    func grant(of account: AccountID, for client: OAuthClientID) async throws -> GrantRecord?

    /// Returns the pace of new grants of an account to a client; `nil` when none is stored.
    func pace(of account: AccountID, for client: OAuthClientID) async throws -> GrantPace?

    /// Returns the device authorization with this user code, even after its expiry or denial; `nil`
    /// when there is none, or when the user has agreed.
    func device(withUserCode digest: SHA256Digest) async throws -> DeviceAuthorization?

    /// Returns the account of the client's youngest token family that a Google account began; `nil` when
    /// there is none. A family whose Google account was learned later leads to no account.
    func account(linkedWith googleSubject: String, for client: OAuthClientID) async throws -> AccountID?

    /// Returns the account of an app with this verified address that is not known as a private relay address.
    /// An account that was created by a Google account is never found by its address, but counts.
    ///
    /// - Returns: `nil` when no account has the address, or several
    ///   accounts of the team have it, whatever their apps.
    func account(withVerifiedEmail email: String, app: ClientID, team: TeamID) async throws -> AccountID?

    func isDisabled(googleSubject: String) async throws -> Bool

    /// Returns the time at which the latest security event of Google was received; `nil` when none is stored.
    func lastGoogleEvent() async throws -> Moment?

    /// Returns the time at which the verification with this state was received; `nil` when it is not stored.
    func googleVerification(_ state: String) async throws -> Moment?

    /// Removes codes a day after their expiry, expired token families, device authorizations two
    /// minutes after their expiry, paces of new grants after an hour, and Google's statements after
    /// 30 days, except about disabled Google accounts; erases the salts of exchanged refresh tokens
    /// that can no longer be repeated. Processes a bounded number of each at once. Returns the
    /// number of rows that were removed or lost a salt.
    func purgeGrants(at moment: Moment) async throws -> Int

    /// Returns the signing keys, the newest first. They are sealed; see `SigningKeyRecord`.
    func signingKeys() async throws -> [SigningKeyRecord]

    /// Stores the key unless a key of this algorithm was created at or after `notAfter`, and returns all
    /// stored keys. If several replicas offer a key at once, one key is stored.
    func offerSigningKey(_ key: SigningKeyRecord, unlessMadeAfter moment: Moment) async throws
        -> [SigningKeyRecord]

    func removeSigningKeys(retiredBefore moment: Moment) async throws -> Int

    /// Removes this key before its time, with an audit entry of the origin. Returns false when the record
    /// has changed since it was read, or was deleted.
    func removeSigningKey(_ key: SigningKeyRecord, by origin: AuditOrigin, at moment: Moment) async throws
        -> Bool

    /// Replaces the sealed private key of this record. Returns false when the record
    /// has changed since it was read, or was deleted.
    func replaceSealed(_ key: SigningKeyRecord, with sealed: SealedSecret) async throws -> Bool
}

/// The result of a batch of grant commands.
public struct GrantCommitResult: Sendable {
    /// Results of the commands, in their order.
    public let results: [Result<GrantOutcome, any Error>]
    /// The sequence number of the last account event of the batch; `nil` when the batch made no event.
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

/// A key that signs tokens of this service, as stored.
public struct SigningKeyRecord: Sendable, Hashable {
    /// Thumbprint of the public key (RFC 7638): the `kid`.
    public let keyID: String
    /// "ES256" or "RS256".
    public let algorithm: String
    /// The private key (PKCS #8), sealed for its `keyID`.
    public var sealed: SealedSecret
    /// The public key as a JWK, UTF-8.
    public let publicKey: [UInt8]
    public let createdAt: Moment
    /// Moment from which the key signs. Before it the key is only published, so that verifiers know it.
    public let signsFrom: Moment
    /// Moment from which the key is no longer published.
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

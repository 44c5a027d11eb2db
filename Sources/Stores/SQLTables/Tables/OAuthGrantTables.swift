public import AppleAccounts
public import AuthorizationServer
public import Cryptography

/// Grants of users to OAuth clients.
public struct OAuthGrantTable: Table {
    public static let name = "oauth_grant"

    public let id: Column<GrantID>
    public let accountID: Column<AccountID>
    public let oauthClientID: Column<OAuthClientID>
    public let appID: Column<Int64>
    public let scope: Column<String>
    public let createdAt: Column<Moment>
    public let consentedAt: Column<Moment>
    public let authorizedAt: Column<Moment>
    public let googleSubject: Column<String>
    public let lastUsedAt: Column<Moment>

    public init(_ columns: inout ColumnList) {
        id = columns("id", .operational, .required)
        accountID = columns("account_id", .operational, .required)
        oauthClientID = columns("oauth_client", .operational, .required)
        appID = columns("app_id", .operational, .required, .nameNumber)
        scope = columns("scope", .personal, .required, .length(0...2048))
        createdAt = columns("created_at", .personal, .required)
        consentedAt = columns("consented_at", .personal, .required)
        authorizedAt = columns("authorized_at", .personal, .required)
        googleSubject = columns("google_subject", .personal, .optional, .length(1...255))
        lastUsedAt = columns("last_used_at", .personal, .optional)
    }
}

extension ColumnChoice where T == OAuthGrantTable {
    public static var values: Self { except { [$0.id, $0.accountID, $0.oauthClientID] } }
}

extension OAuthGrantTable {
    /// Writes all columns except the number of the app.
    @inlinable public func write(_ grant: GrantRecord, to row: some WritableRow) {
        row.set(id, grant.id)
        row.set(accountID, grant.accountID)
        row.set(oauthClientID, grant.oauthClientID)
        row.set(scope, grant.scope)
        row.set(createdAt, grant.createdAt)
        row.set(consentedAt, grant.consentedAt)
        row.set(authorizedAt, grant.authorizedAt)
        row.set(googleSubject, grant.googleSubject)
        row.set(lastUsedAt, grant.lastUsedAt)
    }

    @inlinable public func record(
        _ row: some ReadableRow, clientID: ClientID
    ) throws(StorageError) -> GrantRecord {
        GrantRecord(
            id: try row.required(id), accountID: try row.required(accountID),
            oauthClientID: try row.required(oauthClientID),
            clientID: clientID, scope: try row.required(scope),
            createdAt: try row.required(createdAt), consentedAt: try row.required(consentedAt),
            authorizedAt: try row.required(authorizedAt), googleSubject: row[googleSubject],
            lastUsedAt: row[lastUsedAt])
    }
}

/// Token families that codes and assertions gave. The digests of refresh tokens are of random bytes. They are
/// classified as secret because inverting SHA-256 would yield the token.
public struct OAuthTokenFamilyTable: Table {
    public static let name = "oauth_token_family"

    public let id: Column<UniqueID>
    public let grantID: Column<GrantID>
    public let isNative: Column<Bool>
    public let scope: Column<String>
    public let authenticatedAt: Column<Moment>
    public let authorizedAt: Column<Moment>
    public let createdAt: Column<Moment>
    public let expiresAt: Column<Moment>
    public let familySecretDigest: Column<SHA256Digest>
    public let tokenDigest: Column<SHA256Digest>
    /// For operators. No rule reads it, but the schema requires it in a token family that has a refresh
    /// token.
    public let generation: Column<Int64>
    /// The latest exchanged token: its digest, its time and its salt.
    public let previousDigest: Column<SHA256Digest>
    public let rotatedAt: Column<Moment>
    public let previousSalt: Column<[UInt8]>
    /// The exchanged tokens before it: up to three times 32 bytes of digest, 32 bytes of salt and 8 bytes of
    /// time, the latest first. NULL for nearly all families: it is for exchanges within minutes.
    public let earlierTokens: Column<[UInt8]>
    /// Only for refresh tokens of Google's client. Google is told the end of a token under this digest, also
    /// after an erasure.
    public let doubleSHA512: Column<SHA512Digest>
    /// The Google account of the token family, if known.
    public let googleSubject: Column<String>
    public let isGoogleSubjectLearned: Column<Bool>

    public init(_ columns: inout ColumnList) {
        id = columns("id", .operational, .required)
        grantID = columns("grant_id", .operational, .required)
        isNative = columns("is_native", .operational, .required)
        scope = columns("scope", .personal, .required, .length(0...2048))
        authenticatedAt = columns("authenticated_at", .personal, .required)
        authorizedAt = columns("authorized_at", .personal, .required)
        createdAt = columns("created_at", .personal, .required)
        expiresAt = columns("expires_at", .operational, .required)
        familySecretDigest = columns("family_secret_digest", .secret, .optional)
        tokenDigest = columns("token_digest", .secret, .optional)
        generation = columns("generation", .operational, .optional, .range(0...4294967295))
        previousDigest = columns("previous_digest", .secret, .optional)
        rotatedAt = columns("rotated_at", .personal, .optional)
        previousSalt = columns("previous_salt", .secret, .optional, .length(32...32))
        earlierTokens = columns("earlier_tokens", .secret, .optional, .length(72...216))
        doubleSHA512 = columns("double_sha512", .operational, .optional)
        googleSubject = columns("google_subject", .personal, .optional, .length(1...255))
        isGoogleSubjectLearned = columns("google_subject_is_learned", .operational, .required)
    }
}

extension ColumnChoice where T == OAuthTokenFamilyTable {
    /// Columns for the repetition of exchanges.
    public static var retries: Self { only { [$0.previousSalt, $0.earlierTokens] } }
    public static var exceptRetries: Self { except { [$0.previousSalt, $0.earlierTokens] } }

    /// Columns that uses of the token family and statements of Google change.
    public static var progress: Self {
        only {
            [
                $0.expiresAt, $0.tokenDigest, $0.generation, $0.previousDigest, $0.rotatedAt, $0.previousSalt,
                $0.earlierTokens, $0.doubleSHA512, $0.googleSubject, $0.isGoogleSubjectLearned,
            ]
        }
    }
}

extension OAuthTokenFamilyTable {
    @inlinable public func write(_ family: TokenFamily, to row: some WritableRow) {
        row.set(id, family.id)
        row.set(grantID, family.grantID)
        row.set(isNative, family.isNative)
        row.set(scope, family.scope)
        row.set(authenticatedAt, family.authenticatedAt)
        row.set(authorizedAt, family.authorizedAt)
        row.set(createdAt, family.createdAt)
        row.set(expiresAt, family.expiresAt)
        row.set(familySecretDigest, family.refreshToken?.familySecretDigest)
        row.set(tokenDigest, family.refreshToken?.digest)
        row.set(generation, (family.refreshToken?.generation).map { Int64($0) })
        let exchanged = family.refreshToken?.exchanged ?? []
        row.set(previousDigest, exchanged.first?.digest)
        row.set(rotatedAt, exchanged.first?.moment)
        row.set(previousSalt, exchanged.first?.salt)
        row.set(earlierTokens, exchanged.count > 1 ? exchanged.dropFirst().flatMap(\.stored) : nil)
        row.set(doubleSHA512, family.refreshToken?.doubleSHA512)
        row.set(googleSubject, family.googleSubject)
        row.set(isGoogleSubjectLearned, family.isGoogleSubjectLearned)
    }

    @inlinable public func family(_ row: some ReadableRow) throws(StorageError) -> TokenFamily {
        TokenFamily(
            id: try row.required(id), grantID: try row.required(grantID),
            isNative: try row.required(isNative), scope: try row.required(scope),
            authenticatedAt: try row.required(authenticatedAt),
            authorizedAt: try row.required(authorizedAt), createdAt: try row.required(createdAt),
            expiresAt: try row.required(expiresAt), refreshToken: try refreshToken(row),
            googleSubject: row[googleSubject],
            isGoogleSubjectLearned: try row.required(isGoogleSubjectLearned))
    }

    @inlinable func refreshToken(_ row: some ReadableRow) throws(StorageError) -> RefreshTokenState? {
        guard let secret = row[familySecretDigest] else { return nil }
        var exchanged: [RefreshTokenState.ExchangedToken] = []
        if let digest = row[previousDigest], let moment = row[rotatedAt] {
            exchanged.append(
                RefreshTokenState.ExchangedToken(digest: digest, moment: moment, salt: row[previousSalt]))
            exchanged += RefreshTokenState.ExchangedToken.tokens(stored: row[earlierTokens] ?? [])
        }
        return RefreshTokenState(
            familySecretDigest: secret, digest: try row.required(tokenDigest),
            generation: UInt32(truncatingIfNeeded: try row.required(generation)), exchanged: exchanged,
            doubleSHA512: row[doubleSHA512])
    }
}

/// The form of an exchanged token in `earlier_tokens`.
extension RefreshTokenState.ExchangedToken {
    /// Empty for a token without a salt, which cannot be repeated.
    @usableFromInline var stored: [UInt8] {
        guard let salt else { return [] }
        let time = UInt64(bitPattern: moment.milliseconds)
        return digest.bytes + salt + (0..<8).map { UInt8(truncatingIfNeeded: time >> (56 - 8 * UInt64($0))) }
    }

    @usableFromInline static func tokens(stored bytes: [UInt8]) -> [Self] {
        stride(from: 0, to: bytes.count - 71, by: 72).compactMap { start in
            let time = bytes[(start + 64)..<(start + 72)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return SHA256Digest(bytes[start..<(start + 32)]).map {
                Self(
                    digest: $0, moment: Moment(milliseconds: Int64(bitPattern: time)),
                    salt: Array(bytes[(start + 32)..<(start + 64)]))
            }
        }
    }
}

/// Number of grants that an account has given to OAuth clients within an hour. The row names an account and
/// leads to no other data, so it outlives an erasure for that hour.
public struct OAuthGrantPaceTable: Table {
    public static let name = "oauth_grant_pace"

    public let accountID: Column<AccountID>
    public let oauthClientID: Column<OAuthClientID>
    public let begunAt: Column<Moment>
    public let count: Column<Int64>
    /// Number of new token families. NULL for none.
    public let families: Column<Int64>

    public init(_ columns: inout ColumnList) {
        accountID = columns("account_id", .operational, .required)
        oauthClientID = columns("oauth_client", .operational, .required)
        begunAt = columns("begun_at", .operational, .required)
        count = columns("count", .operational, .required, .range(0...Int64.max))
        families = columns("families", .operational, .optional, .range(1...Int64.max))
    }
}

extension ColumnChoice where T == OAuthGrantPaceTable {
    public static var values: Self { only { [$0.begunAt, $0.count, $0.families] } }
    public static var families: Self { only { [$0.families] } }
    public static var exceptFamilies: Self { except { [$0.families] } }
}

extension OAuthGrantPaceTable {
    @inlinable public func write(_ pace: GrantPace, to row: some WritableRow) {
        row.set(accountID, pace.accountID)
        row.set(oauthClientID, pace.oauthClientID)
        row.set(begunAt, pace.begunAt)
        row.set(count, pace.count)
        row.set(families, pace.families == 0 ? nil : pace.families)
    }

    @inlinable public func pace(_ row: some ReadableRow) throws(StorageError) -> GrantPace {
        GrantPace(
            accountID: try row.required(accountID), oauthClientID: try row.required(oauthClientID),
            begunAt: try row.required(begunAt), count: try row.required(count), families: row[families] ?? 0)
    }
}

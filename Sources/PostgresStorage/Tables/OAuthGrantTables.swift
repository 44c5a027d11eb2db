import AppleAccounts
import AuthorizationServer
import Cryptography
import SQLTables

/// What persons have granted to OAuth clients.
struct OAuthGrantTable: Table {
    static let name = "oauth_grant"

    let id: Column<GrantID>
    let accountID: Column<AccountID>
    let oauthClientID: Column<OAuthClientID>
    let appID: Column<Int64>
    let scope: Column<String>
    let createdAt: Column<Moment>
    let consentedAt: Column<Moment>
    let authorizedAt: Column<Moment>
    let googleSubject: Column<String>

    init(_ columns: inout ColumnList) {
        id = columns("id", .operational)
        accountID = columns("account_id", .operational)
        oauthClientID = columns("oauth_client", .operational)
        appID = columns("app_id", .operational)
        scope = columns("scope", .personal)
        createdAt = columns("created_at", .personal)
        consentedAt = columns("consented_at", .personal)
        authorizedAt = columns("authorized_at", .personal)
        googleSubject = columns("google_subject", .personal)
    }
}

extension ColumnChoice where T == OAuthGrantTable {
    static var values: Self { except { [$0.id, $0.accountID, $0.oauthClientID] } }
}

extension OAuthGrantTable {
    func record(
        _ row: PostgresRow, _ names: PostgresNames, in session: PostgresSession
    ) throws -> GrantRecord {
        GrantRecord(
            id: try row.required(id), accountID: try row.required(accountID),
            oauthClientID: try row.required(oauthClientID),
            clientID: try names.apps.name(of: row.required(appID), in: session),
            scope: try row.required(scope),
            createdAt: try row.required(createdAt), consentedAt: try row.required(consentedAt),
            authorizedAt: try row.required(authorizedAt), googleSubject: row[googleSubject])
    }
}

/// What codes and assertions gave. The digests of refresh tokens are of random bytes: what is classified as
/// secret is so because one who can invert SHA-256 has the token.
struct OAuthLineTable: Table {
    static let name = "oauth_line"

    let id: Column<UniqueID>
    let grantID: Column<GrantID>
    let isNative: Column<Bool>
    let scope: Column<String>
    let authenticatedAt: Column<Moment>
    let authorizedAt: Column<Moment>
    let createdAt: Column<Moment>
    let expiresAt: Column<Moment>
    let lineSecretDigest: Column<SHA256Digest>
    let tokenDigest: Column<SHA256Digest>
    /// For operators. No rule reads it, but the schema requires it in a line that has a refresh token.
    let generation: Column<Int64>
    let previousDigest: Column<SHA256Digest>
    let rotatedAt: Column<Moment>
    /// Of Google's tokens. Google is told of it when the token ends, also after an erasure.
    let doubleSHA512: Column<SHA512Digest>
    /// Of the Google account whose assertion gave the line.
    let googleSubject: Column<String>

    init(_ columns: inout ColumnList) {
        id = columns("id", .operational)
        grantID = columns("grant_id", .operational)
        isNative = columns("is_native", .operational)
        scope = columns("scope", .personal)
        authenticatedAt = columns("authenticated_at", .personal)
        authorizedAt = columns("authorized_at", .personal)
        createdAt = columns("created_at", .personal)
        expiresAt = columns("expires_at", .operational)
        lineSecretDigest = columns("line_secret_digest", .secret)
        tokenDigest = columns("token_digest", .secret)
        generation = columns("generation", .operational)
        previousDigest = columns("previous_digest", .secret)
        rotatedAt = columns("rotated_at", .personal)
        doubleSHA512 = columns("double_sha512", .operational)
        googleSubject = columns("google_subject", .personal)
    }
}

extension ColumnChoice where T == OAuthLineTable {
    /// What uses of the line change.
    static var progress: Self {
        only {
            [$0.expiresAt, $0.tokenDigest, $0.generation, $0.previousDigest, $0.rotatedAt, $0.doubleSHA512]
        }
    }
}

extension OAuthLineTable {
    func line(_ row: PostgresRow) throws(StorageError) -> TokenLine {
        TokenLine(
            id: try row.required(id), grantID: try row.required(grantID),
            isNative: try row.required(isNative), scope: try row.required(scope),
            authenticatedAt: try row.required(authenticatedAt),
            authorizedAt: try row.required(authorizedAt), createdAt: try row.required(createdAt),
            expiresAt: try row.required(expiresAt), refreshToken: try refreshToken(row),
            googleSubject: row[googleSubject])
    }

    private func refreshToken(_ row: PostgresRow) throws(StorageError) -> RefreshTokenState? {
        guard let secret = row[lineSecretDigest] else { return nil }
        var previous: RefreshTokenState.Previous?
        if let digest = row[previousDigest], let moment = row[rotatedAt] {
            previous = RefreshTokenState.Previous(digest: digest, rotatedAt: moment)
        }
        return RefreshTokenState(
            lineSecretDigest: secret, digest: try row.required(tokenDigest),
            generation: UInt32(truncatingIfNeeded: try row.required(generation)), previous: previous,
            doubleSHA512: row[doubleSHA512])
    }
}

import AppleAccounts
import AuthorizationServer
import Cryptography
import SQLTables

/// Authorization codes of this service, by their digests. Account and OAuth client are those of the grant.
struct OAuthCodeTable: Table {
    static let name = "oauth_code"

    let digest: Column<SHA256Digest>
    let grantID: Column<GrantID>
    let redirectURI: Column<String>
    let challenge: Column<String>
    let challengeIsPlain: Column<Bool>
    let scope: Column<String>
    let nonce: Column<String>
    let authenticatedAt: Column<Moment>
    let authorizedAt: Column<Moment>
    let issuedAt: Column<Moment>
    let expiresAt: Column<Moment>
    let redeemedAt: Column<Moment>
    let lineID: Column<UniqueID>

    init(_ columns: inout ColumnList) {
        digest = columns("digest", .secret)
        grantID = columns("grant_id", .operational)
        redirectURI = columns("redirect_uri", .operational)
        challenge = columns("challenge", .secret)
        challengeIsPlain = columns("challenge_is_plain", .operational)
        scope = columns("scope", .personal)
        nonce = columns("nonce", .secret)
        authenticatedAt = columns("authenticated_at", .personal)
        authorizedAt = columns("authorized_at", .personal)
        issuedAt = columns("issued_at", .personal)
        expiresAt = columns("expires_at", .operational)
        redeemedAt = columns("redeemed_at", .personal)
        lineID = columns("line_id", .operational)
    }
}

extension ColumnChoice where T == OAuthCodeTable {
    /// What a redemption changes.
    static var redemption: Self { only { [$0.redeemedAt, $0.lineID] } }
}

extension OAuthCodeTable {
    func code(
        _ row: PostgresRow, of account: AccountID, client: OAuthClientID
    ) throws(StorageError) -> CodeRecord {
        var challenge: CodeRecord.StoredChallenge?
        if let text = row[self.challenge] {
            challenge = CodeRecord.StoredChallenge(text: text, isPlain: try row.required(challengeIsPlain))
        }
        var redemption: CodeRecord.Redemption?
        if let moment = row[redeemedAt] {
            redemption = CodeRecord.Redemption(moment: moment, lineID: try row.required(lineID))
        }
        return CodeRecord(
            digest: try row.required(digest), grantID: try row.required(grantID), accountID: account,
            oauthClientID: client, redirectURI: try row.required(redirectURI), challenge: challenge,
            scope: try row.required(scope), nonce: row[nonce],
            authenticatedAt: try row.required(authenticatedAt),
            authorizedAt: try row.required(authorizedAt), issuedAt: try row.required(issuedAt),
            expiresAt: try row.required(expiresAt), redemption: redemption)
    }
}

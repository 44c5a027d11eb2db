import AppleAccounts

/// What a new line of tokens begins with.
struct NewLine {
    let id: UniqueID
    let scope: String
    let isNative: Bool
    let refreshToken: NewRefreshToken?
    let authenticatedAt: Moment
    let authorizedAt: Moment
    let expiresAt: Moment
    let googleSubject: String?
}

extension GrantWorkingSet {
    /// How many lines without a refresh token a grant can have; beyond it the oldest ends. It bounds what a
    /// client can store that redeems codes again and again.
    package static let mostAccessLines = 100

    /// Begins a line of tokens, and ends those that are too many with it, the oldest first.
    mutating func begin(
        _ new: NewLine, of grant: GrantRecord, _ ceilings: LineCeilings, at moment: Moment,
        using generator: inout some RandomNumberGenerator
    ) -> TokenLine {
        let line = TokenLine(
            id: new.id, grantID: grant.id, isNative: new.isNative, scope: new.scope,
            authenticatedAt: new.authenticatedAt, authorizedAt: new.authorizedAt, createdAt: moment,
            expiresAt: new.expiresAt,
            refreshToken: new.refreshToken.map {
                RefreshTokenState(
                    lineSecretDigest: $0.lineSecretDigest, digest: $0.digest, doubleSHA512: $0.doubleSHA512)
            }, googleSubject: new.googleSubject)
        let own = (ledger.grant(grant.id)?.lines ?? []).filter { moment < $0.expiresAt }
        let most = new.refreshToken == nil ? Self.mostAccessLines : ceilings.perClient
        let sameKind = own.filter { ($0.refreshToken == nil) == (new.refreshToken == nil) }
        endLines(sameKind.dropLast(max(most, 1) - 1), keeping: grant.id, at: moment, using: &generator)
        if new.isNative, new.refreshToken != nil, let perAccount = ceilings.perAccount {
            let native = nativeLines(of: grant.accountID, at: moment)
            endLines(
                native.dropLast(max(perAccount, 1) - 1), keeping: grant.id, at: moment, using: &generator)
        }
        ledger.put(line)
        return line
    }

    /// The lines of all native clients that have a refresh token, the oldest first. A link with Google is not
    /// among them, so no other client ever ends one.
    private func nativeLines(of account: AccountID, at moment: Moment) -> [TokenLine] {
        ledger.grants(of: account).flatMap(\.lines)
            .filter { $0.isNative && $0.refreshToken != nil && moment < $0.expiresAt }
            .sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
    }

    /// Ends lines whose places newer ones take. The grant that gets a new line does not end by it.
    private mutating func endLines(
        _ lines: some Sequence<TokenLine>, keeping kept: GrantID, at moment: Moment,
        using generator: inout some RandomNumberGenerator
    ) {
        for line in lines {
            guard line.grantID != kept, let grant = ledger.grant(line.grantID)?.record else {
                ledger.removeLines(of: kept, reason: .replaced, at: moment, using: &generator) {
                    $0.id == line.id
                }
                continue
            }
            endLines(of: grant, reason: .replaced, at: moment, using: &generator) { $0.id == line.id }
        }
    }
}

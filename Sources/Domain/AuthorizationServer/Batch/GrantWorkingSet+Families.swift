import AppleAccounts

/// Values with which a new token family begins.
struct NewFamily {
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
    /// Number of token families without a refresh token that a grant can have; above it the oldest ends.
    /// Bounds the rows that a client can cause by redeeming codes again and again.
    package static let mostAccessFamilies = 100

    /// Begins a token family, and ends the oldest families above the limits. Nothing has changed when it throws.
    mutating func begin(
        _ new: NewFamily, of grant: GrantRecord, _ limits: FamilyLimits, at moment: Moment,
        using generator: inout some RandomNumberGenerator
    ) throws(GrantRefusal) -> TokenFamily {
        try countNewFamily(of: grant.accountID, to: grant.oauthClientID, at: moment)
        let family = TokenFamily(
            id: new.id, grantID: grant.id, isNative: new.isNative, scope: new.scope,
            authenticatedAt: new.authenticatedAt, authorizedAt: new.authorizedAt, createdAt: moment,
            expiresAt: new.expiresAt,
            refreshToken: new.refreshToken.map {
                RefreshTokenState(
                    familySecretDigest: $0.familySecretDigest, digest: $0.digest,
                    doubleSHA512: $0.doubleSHA512)
            }, googleSubject: new.googleSubject)
        let own = (ledger.grant(grant.id)?.families ?? []).filter { moment < $0.expiresAt }
        let most = new.refreshToken == nil ? Self.mostAccessFamilies : limits.perClient
        let sameKind = own.filter { ($0.refreshToken == nil) == (new.refreshToken == nil) }
        endFamilies(sameKind.dropLast(max(most, 1) - 1), keeping: grant.id, at: moment, using: &generator)
        if new.isNative, new.refreshToken != nil, let perAccount = limits.perAccount {
            let native = nativeLines(of: grant.accountID, at: moment)
            endFamilies(
                native.dropLast(max(perAccount, 1) - 1), keeping: grant.id, at: moment, using: &generator)
        }
        ledger.put(family)
        note(.tokensIssued, of: grant, family: family.id, scope: family.scope, at: moment)
        return family
    }

    /// Returns the token families of all native clients that have a refresh token, the oldest first. Families
    /// of Google are not included, so no other client ever ends a link with Google.
    private func nativeLines(of account: AccountID, at moment: Moment) -> [TokenFamily] {
        ledger.grants(of: account).flatMap(\.families)
            .filter { $0.isNative && $0.refreshToken != nil && moment < $0.expiresAt }
            .sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
    }

    /// Ends token families that newer families replace. The grant of the new family does not end with them.
    private mutating func endFamilies(
        _ families: some Sequence<TokenFamily>, keeping kept: GrantID, at moment: Moment,
        using generator: inout some RandomNumberGenerator
    ) {
        for family in families {
            guard family.grantID != kept, let grant = ledger.grant(family.grantID)?.record else {
                // Google is not told of tokens that its newer tokens replace.
                _ = ledger.removeFamilies(of: kept, reason: .replaced, at: moment) { $0.id == family.id }
                continue
            }
            endFamilies(of: grant, reason: .replaced, at: moment, using: &generator) { $0.id == family.id }
        }
    }
}

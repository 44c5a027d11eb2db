public import AppleAccounts
public import Cryptography
import Encodings

/// An authenticated client's request to redeem a code (RFC 6749 §4.1.3).
public struct RedeemCommand: Sendable, Hashable {
    public let codeDigest: SHA256Digest
    public let oauthClientID: OAuthClientID
    public let redirectURI: String
    /// The `code_verifier` exactly as the client sent it. `nil` if the request has none.
    public let codeVerifier: String?
    /// The client's configured scopes. If they contain none of the code's scopes, the code is not consumed.
    public let clientScopes: ScopeSet
    public let newFamilyID: UniqueID
    public let isNative: Bool
    /// The new refresh token. `nil` if the client gets none even with the `offline_access` scope.
    public let refreshToken: NewRefreshToken?
    /// True if the client gets `refreshToken` only with the `offline_access` scope.
    public let needsOfflineAccess: Bool
    /// Expiry time of the token family if its refresh token is never used.
    public let familyExpiresAt: Moment
    /// Expiry time of a token family without a refresh token: the expiry time of its access token. `nil`
    /// means `familyExpiresAt`.
    public let accessTokenExpiresAt: Moment?
    public let limits: FamilyLimits
    public let moment: Moment

    /// The command's origin, for the audit log.
    public let origin: AuditOrigin

    public init(
        codeDigest: SHA256Digest, oauthClientID: OAuthClientID, redirectURI: String, codeVerifier: String?,
        clientScopes: ScopeSet, newFamilyID: UniqueID, isNative: Bool, refreshToken: NewRefreshToken?,
        needsOfflineAccess: Bool, familyExpiresAt: Moment, accessTokenExpiresAt: Moment? = nil,
        limits: FamilyLimits, moment: Moment, origin: AuditOrigin = .current
    ) {
        self.codeDigest = codeDigest
        self.oauthClientID = oauthClientID
        self.redirectURI = redirectURI
        self.codeVerifier = codeVerifier
        self.clientScopes = clientScopes
        self.newFamilyID = newFamilyID
        self.isNative = isNative
        self.refreshToken = refreshToken
        self.needsOfflineAccess = needsOfflineAccess
        self.familyExpiresAt = familyExpiresAt
        self.accessTokenExpiresAt = accessTokenExpiresAt
        self.limits = limits
        self.moment = moment
        self.origin = origin
    }
}

/// Limits on the number of token families with a refresh token. Above a limit, the oldest family ends.
public struct FamilyLimits: Sendable, Hashable {
    /// Limit per OAuth client and account.
    public let perClient: Int
    /// Limit per account over all native clients. `nil` for other clients. Google's token families never
    /// count.
    public let perAccount: Int?

    public init(perClient: Int, perAccount: Int?) {
        (self.perClient, self.perAccount) = (perClient, perAccount)
    }
}

extension GrantWorkingSet {
    /// Milliseconds during which a correct second redemption counts as a retry after a lost response.
    package static let retryTime: Int64 = 10_000

    /// Redeems a code (RFC 6749 §4.1.3), which is possible only once.
    ///
    /// The checks run in this order: client, redirect URI, code verifier, earlier use. An attacker who lacks
    /// the client's secret or the verifier can therefore neither consume the code nor end tokens.
    mutating func apply(
        _ command: RedeemCommand, using generator: inout some RandomNumberGenerator
    ) throws(GrantRefusal) -> IssuedTokens {
        guard let held = ledger.grant(withCode: command.codeDigest), var code = held.code(command.codeDigest)
        else { throw GrantRefusal(.codeNotFound) }
        guard code.oauthClientID == command.oauthClientID else { throw GrantRefusal(.codeOfAnotherClient) }
        guard code.redirectURI.isByteEqual(to: command.redirectURI) else {
            throw GrantRefusal(.redirectURIMismatch)
        }
        guard CodeChallenge.isFulfilled(code.challenge.map { CodeChallenge($0) }, by: command.codeVerifier)
        else { throw GrantRefusal(.codeVerifierMismatch) }
        if let redemption = code.redemption {
            guard command.moment >= redemption.moment.advanced(byMilliseconds: Self.retryTime) else {
                throw GrantRefusal(.codeRetried)
            }
            // RFC 6749 §4.1.2: the code was redeemed by two parties, so one of them must have stolen it.
            endFamilies(of: held.record, reason: .tokenReused, at: command.moment, using: &generator) {
                $0.id == redemption.familyID
            }
            throw GrantRefusal(.codeReused)
        }
        guard command.moment < code.expiresAt else { throw GrantRefusal(.codeExpired) }
        let status = try status(held.record, authorizedAt: code.authorizedAt, at: command.moment)

        // This check runs before the code is consumed, because an operator can put a scope back into the
        // configuration.
        guard let scope = command.clientScopes.remainder(of: code.scope) else {
            throw GrantRefusal(.scopeWithdrawn)
        }

        let isOffline = ScopeSet(parsing: scope)?.contains(.offlineAccess) ?? false
        let offered = command.needsOfflineAccess && !isOffline ? nil : command.refreshToken
        let family = try begin(
            NewFamily(
                id: command.newFamilyID, scope: code.scope, isNative: command.isNative, refreshToken: offered,
                authenticatedAt: code.authenticatedAt, authorizedAt: code.authorizedAt,
                expiresAt: offered == nil
                    ? command.accessTokenExpiresAt ?? command.familyExpiresAt : command.familyExpiresAt,
                googleSubject: nil),
            of: held.record, command.limits, at: command.moment, using: &generator)
        code.redemption = CodeRecord.Redemption(moment: command.moment, familyID: family.id)
        ledger.put(code)
        return IssuedTokens(
            grant: noteUse(of: held.record, at: command.moment), family: family, scope: scope,
            account: status.account, nonce: code.nonce,
            hasNewRefreshToken: offered != nil)
    }
}

/// The initial values of a new token family.
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
    /// Maximum number of token families without a refresh token per grant. Above the limit, the oldest family
    /// ends, so that a client cannot fill the database by redeeming codes again and again.
    package static let mostAccessFamilies = 100

    /// Begins a token family, and ends the oldest families above the limits. Changes nothing if it throws an
    /// error.
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

    /// Returns the native clients' token families that have a refresh token, oldest first. Google's families
    /// are excluded, so that a new native family never ends a Google link.
    private func nativeLines(of account: AccountID, at moment: Moment) -> [TokenFamily] {
        ledger.grants(of: account).flatMap(\.families)
            .filter { $0.isNative && $0.refreshToken != nil && moment < $0.expiresAt }
            .sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
    }

    /// Ends token families that newer families replace. The grant is kept, because the new family belongs to
    /// it.
    private mutating func endFamilies(
        _ families: some Sequence<TokenFamily>, keeping kept: GrantID, at moment: Moment,
        using generator: inout some RandomNumberGenerator
    ) {
        for family in families {
            guard family.grantID != kept, let grant = ledger.grant(family.grantID)?.record else {
                // Google needs no report about tokens that its own newer tokens replace.
                _ = ledger.removeFamilies(of: kept, reason: .replaced, at: moment) { $0.id == family.id }
                continue
            }
            endFamilies(of: grant, reason: .replaced, at: moment, using: &generator) { $0.id == family.id }
        }
    }
}

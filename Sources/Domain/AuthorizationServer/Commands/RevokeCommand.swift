public import AppleAccounts

/// A revocation of a token by its client (RFC 7009).
public struct RevokeCommand: Sendable, Hashable {
    public let oauthClientID: OAuthClientID
    /// A refresh token, or the token family of an access token whose signature was verified.
    public let token: Token
    public let moment: Moment

    public enum Token: Sendable, Hashable {
        case refresh(RefreshTokenText)
        case access(familyID: UniqueID)
    }

    /// Origin for the audit log.
    public let origin: AuditOrigin

    public init(oauthClientID: OAuthClientID, token: Token, moment: Moment, origin: AuditOrigin = .current) {
        (self.oauthClientID, self.token, self.moment) = (oauthClientID, token, moment)
        self.origin = origin
    }
}

/// The end of a grant at the request of the app's backend, or of the user in a browser.
public struct EndGrantCommand: Sendable, Hashable {
    public let grantID: GrantID
    public let accountID: AccountID
    /// The apps that the caller may see.
    public let scope: AppScope
    public let reason: GrantEndReason
    public let moment: Moment
    /// The sign-in of the user; `nil` for the app's backend.
    public let authentication: UserAuthentication?

    /// Origin for the audit log.
    public let origin: AuditOrigin

    public init(
        grantID: GrantID, accountID: AccountID, scope: AppScope, reason: GrantEndReason, moment: Moment,
        authentication: UserAuthentication? = nil, origin: AuditOrigin = .current
    ) {
        self.authentication = authentication
        self.grantID = grantID
        self.accountID = accountID
        self.scope = scope
        self.reason = reason
        self.moment = moment
        self.origin = origin
    }
}

/// A sign-in with Apple whose session acts for the user. It is valid while its
/// credential is authorized and was not revoked since.
public struct UserAuthentication: Sendable, Hashable {
    /// The primary client ID of the app that the user signed in to.
    public let clientID: ClientID
    public let authenticatedAt: Moment

    public init(clientID: ClientID, authenticatedAt: Moment) {
        (self.clientID, self.authenticatedAt) = (clientID, authenticatedAt)
    }
}

/// The end of all grants of an account at the request of the app's backend.
public struct EndGrantsCommand: Sendable, Hashable {
    public let accountID: AccountID
    /// The apps that the caller may see. Grants of other apps stay.
    public let scope: AppScope
    public let reason: GrantEndReason
    public let moment: Moment

    /// Origin for the audit log.
    public let origin: AuditOrigin

    public init(
        accountID: AccountID, scope: AppScope, reason: GrantEndReason, moment: Moment,
        origin: AuditOrigin = .current
    ) {
        self.accountID = accountID
        self.scope = scope
        self.reason = reason
        self.moment = moment
        self.origin = origin
    }
}

extension GrantWorkingSet {
    /// Ends the token family of a token at the request of its client (RFC 7009 §2.1): a refresh token also
    /// ends its access tokens, and an access token its refresh token. The last family ends the grant.
    ///
    /// A token that is unknown, has ended, or belongs to another client does not change,
    /// and the response is the same. An old token of a rotated family also ends the
    /// family: its holder has held a token of the family.
    mutating func apply(
        _ command: RevokeCommand, using generator: inout some RandomNumberGenerator
    ) -> GrantOutcome {
        guard let held = ledger.grant(withFamily: command.token.familyID),
            held.record.oauthClientID == command.oauthClientID,
            let family = held.family(command.token.familyID), command.moment < family.expiresAt,
            command.token.isOf(family)
        else { return .revoked }
        endFamilies(of: held.record, reason: .clientRevoked, at: command.moment, using: &generator) {
            $0.id == family.id
        }
        return .revoked
    }

    /// Ends a grant with all of its token families and codes, at the request of the app's backend or of the
    /// user. It checks the user's sign-in: the credential may have ended since the page was shown.
    mutating func apply(
        _ command: EndGrantCommand, using generator: inout some RandomNumberGenerator
    ) throws(GrantRefusal) -> GrantRecord {
        // A grant of an app that the caller may not see does not exist for the caller.
        guard let grant = ledger.grant(command.grantID)?.record, grant.accountID == command.accountID,
            command.scope.allows(grant.clientID)
        else { throw GrantRefusal(.grantNotFound) }
        if let authentication = command.authentication {
            let user = try user(command.accountID)
            let status = AccountStatus(
                account: user.account, credential: user.record.record(for: authentication.clientID))
            guard status.isAuthorized, status.admits(authenticatedAt: authentication.authenticatedAt) else {
                throw GrantRefusal(.credentialRevoked)
            }
        }
        end(grant, reason: command.reason, at: command.moment, using: &generator)
        return grant
    }

    /// Ends all grants of an account that the caller may see.
    mutating func apply(
        _ command: EndGrantsCommand, using generator: inout some RandomNumberGenerator
    ) -> [GrantRecord] {
        let grants = ledger.grants(of: command.accountID).map(\.record)
            .filter { command.scope.allows($0.clientID) }
        for grant in grants { end(grant, reason: command.reason, at: command.moment, using: &generator) }
        return grants
    }
}

extension RevokeCommand.Token {
    /// Returns true for a token of this token family. The verified signature proves it for an access token.
    fileprivate func isOf(_ family: TokenFamily) -> Bool {
        switch self {
        case .access: true
        case .refresh(let presented):
            family.refreshToken?.familySecretDigest.isSame(as: presented.familySecretDigest) ?? false
        }
    }
}

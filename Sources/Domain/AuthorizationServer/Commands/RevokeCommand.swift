public import AppleAccounts

/// A client's request to revoke one of its tokens (RFC 7009).
public struct RevokeCommand: Sendable, Hashable {
    public let oauthClientID: OAuthClientID
    /// A refresh token, or the token family of an access token with a verified signature.
    public let token: Token
    public let moment: Moment

    public enum Token: Sendable, Hashable {
        case refresh(RefreshTokenText)
        case access(familyID: UniqueID)
    }

    /// The command's origin, for the audit log.
    public let origin: AuditOrigin

    public init(oauthClientID: OAuthClientID, token: Token, moment: Moment, origin: AuditOrigin = .current) {
        (self.oauthClientID, self.token, self.moment) = (oauthClientID, token, moment)
        self.origin = origin
    }
}

/// A request by the app's backend, or by the user in a browser, to end a grant.
public struct EndGrantCommand: Sendable, Hashable {
    public let grantID: GrantID
    public let accountID: AccountID
    /// The apps that the caller may see.
    public let scope: AppScope
    public let reason: GrantEndReason
    public let moment: Moment
    /// The user's sign-in. `nil` if the app's backend sent the request.
    public let authentication: UserAuthentication?

    /// The command's origin, for the audit log.
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

/// A sign-in with Apple that identifies a session's user. It is valid while its credential is authorized,
/// unless the credential was revoked after the sign-in.
public struct UserAuthentication: Sendable, Hashable {
    /// The primary client ID of the app that the user signed in to.
    public let clientID: ClientID
    public let authenticatedAt: Moment

    public init(clientID: ClientID, authenticatedAt: Moment) {
        (self.clientID, self.authenticatedAt) = (clientID, authenticatedAt)
    }
}

/// A request by the app's backend to end all of an account's grants.
public struct EndGrantsCommand: Sendable, Hashable {
    public let accountID: AccountID
    /// The apps that the caller may see. Grants to other apps are kept.
    public let scope: AppScope
    public let reason: GrantEndReason
    public let moment: Moment

    /// The command's origin, for the audit log.
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
    /// Ends a token's family at the request of its client (RFC 7009 §2.1). Revoking a refresh token thus also
    /// ends the family's access tokens, and vice versa. The grant ends with its last family.
    ///
    /// A token that is unknown, has ended, or belongs to another client changes nothing, and the client gets
    /// the same response. An old token of a rotated family still ends the family, because its holder once had
    /// a valid token.
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

    /// Ends a grant with all its token families and codes, at the request of the app's backend or the user.
    /// The user's sign-in is checked again, because the credential may have ended since the page was shown.
    mutating func apply(
        _ command: EndGrantCommand, using generator: inout some RandomNumberGenerator
    ) throws(GrantRefusal) -> GrantRecord {
        // The response must not reveal grants to apps that the caller may not see.
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

    /// Ends all of the account's grants that the caller may see.
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
    /// Returns true if the token belongs to this family. An access token needs no further proof, because its
    /// signature has been verified.
    fileprivate func isOf(_ family: TokenFamily) -> Bool {
        switch self {
        case .access: true
        case .refresh(let presented):
            family.refreshToken?.familySecretDigest.isSame(as: presented.familySecretDigest) ?? false
        }
    }
}

import AppleAccounts

extension GrantWorkingSet {
    /// Ends the token family of a token at the request of its client (RFC 7009 §2.1): a refresh token ends
    /// its access tokens too, and an access token its refresh token. The last family ends the grant.
    ///
    /// A token that is unknown, has ended, or belongs to another client is left alone, with the same
    /// response. An old token of a rotated family ends the family too: its holder has held a token of the
    /// family.
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
    /// user. The user's sign-in is checked here: the credential may have ended since the page was shown.
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
    /// Returns `true` for a token of this token family. For an access token the verified signature proves it.
    fileprivate func isOf(_ family: TokenFamily) -> Bool {
        switch self {
        case .access: true
        case .refresh(let presented):
            family.refreshToken?.familySecretDigest.isSame(as: presented.familySecretDigest) ?? false
        }
    }
}

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

    /// Ends a grant with all of its token families and codes, at the request of the app's backend.
    mutating func apply(
        _ command: EndGrantCommand, using generator: inout some RandomNumberGenerator
    ) throws(GrantRefusal) -> GrantRecord {
        // A grant of an app that the caller may not see does not exist for the caller.
        guard let grant = ledger.grant(command.grantID)?.record, grant.accountID == command.accountID,
            command.scope.allows(grant.clientID)
        else { throw GrantRefusal(.grantNotFound) }
        end(grant, reason: command.reason, at: command.moment, using: &generator)
        return grant
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

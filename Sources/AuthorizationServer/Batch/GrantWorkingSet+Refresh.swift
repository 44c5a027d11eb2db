import AppleAccounts
import Cryptography

extension GrantWorkingSet {
    /// Milliseconds within which the token before the current one may be repeated, because its response was
    /// lost.
    package static let lostResponseTime: Int64 = 30_000

    /// Uses a refresh token (RFC 6749 §6), and rotates it if the command has a successor.
    ///
    /// The secret of the token family is checked first, so that only a holder of a token of the family can
    /// end it with an old token (RFC 9700 §4.14); then the client, and then the token itself.
    mutating func apply(
        _ command: RefreshCommand, using generator: inout some RandomNumberGenerator
    ) throws(GrantRefusal) -> IssuedTokens {
        guard let held = ledger.grant(withFamily: command.presented.familyID),
            var family = held.family(command.presented.familyID), var token = family.refreshToken
        else { throw GrantRefusal(.refreshTokenNotFound) }
        guard token.familySecretDigest.isSame(as: command.presented.familySecretDigest) else {
            throw GrantRefusal(.refreshTokenForged)
        }
        guard held.record.oauthClientID == command.oauthClientID else {
            throw GrantRefusal(.refreshTokenOfAnotherClient)
        }
        let end = command.end(of: family)
        guard command.moment < family.expiresAt, command.moment < end else {
            throw GrantRefusal(.refreshTokenExpired)
        }
        let isCurrent = token.digest.isSame(as: command.presented.digest)
        guard isCurrent || token.isLostResponse(command) else {
            // Without rotation there is no old token: this text was never issued.
            guard command.successor != nil || token.previous != nil else {
                throw GrantRefusal(.refreshTokenForged)
            }
            endFamilies(of: held.record, reason: .tokenReused, at: command.moment, using: &generator) {
                $0.id == family.id
            }
            throw GrantRefusal(.refreshTokenReused)
        }
        let status = try status(held.record, authorizedAt: family.authorizedAt, at: command.moment)
        let asked = try Self.narrowed(family.scope, to: command.scope)
        // Checked before the token is replaced: after a refusal its client gets no successor, and could never
        // refresh again.
        guard let scope = command.clientScopes.remainder(of: asked) else {
            throw GrantRefusal(.scopeWithdrawn)
        }

        if let successor = command.successor {
            token.rotate(to: successor.digest, isCurrent: isCurrent, at: command.moment)
        }
        family.refreshToken = token
        family.expiresAt = end
        ledger.put(family)
        return IssuedTokens(
            grant: noteUse(of: held.record, at: command.moment), family: family, scope: scope,
            account: status.account,
            hasNewRefreshToken: command.successor != nil)
    }

    /// Returns the requested part of the scope, never more than the user has agreed to (RFC 6749 §6).
    private static func narrowed(_ scope: String, to wanted: String?) throws(GrantRefusal) -> String {
        guard let wanted else { return scope }
        guard let granted = ScopeSet(parsing: scope), let asked = ScopeSet(parsing: wanted),
            asked.isSubset(of: granted)
        else { throw GrantRefusal(.scopeExceeded) }
        return granted.intersection(asked).text
    }
}

extension RefreshCommand {
    /// Returns the moment at which the token family ends after this use.
    fileprivate func end(of family: TokenFamily) -> Moment {
        guard let longestLine else { return familyExpiresAt }
        return min(familyExpiresAt, family.createdAt.advanced(byMilliseconds: longestLine))
    }
}

extension RefreshTokenState {
    /// Returns `true` if the previous token is repeated shortly after its rotation. The current token is
    /// unused then, because its use would have made it the previous token.
    fileprivate func isLostResponse(_ command: RefreshCommand) -> Bool {
        guard command.successor != nil, let previous,
            previous.digest.isSame(as: command.presented.digest)
        else { return false }
        return command.moment
            < previous.rotatedAt.advanced(byMilliseconds: GrantWorkingSet.lostResponseTime)
    }

    /// Replaces the current token, or the token whose response was lost, by the successor. The time of the
    /// first rotation stays, so that a token cannot be repeated for ever.
    fileprivate mutating func rotate(to successor: SHA256Digest, isCurrent: Bool, at moment: Moment) {
        if isCurrent {
            previous = Previous(digest: digest, rotatedAt: moment)
            generation &+= 1
        }
        digest = successor
    }
}

extension SHA256Digest {
    /// The duration does not depend on where the digests differ.
    func isSame(as other: SHA256Digest) -> Bool { ConstantTime.areEqual(self, other) }
}

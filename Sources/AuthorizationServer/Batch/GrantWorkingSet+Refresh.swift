import AppleAccounts
import Cryptography

extension GrantWorkingSet {
    /// For how long the token before the current one may come again, in milliseconds: its answer was lost.
    package static let lostAnswerTime: Int64 = 30_000

    /// Uses a refresh token (RFC 6749 §6), and rotates it where its client asks for it.
    ///
    /// The secret of the line comes first, so that only one who has held a token of the line can end it by an
    /// old one (RFC 9700 §4.14); then the client, and then the token itself.
    mutating func apply(
        _ command: RefreshCommand, using generator: inout some RandomNumberGenerator
    ) throws(GrantRefusal) -> IssuedTokens {
        guard let held = ledger.grant(withLine: command.presented.lineID),
            var line = held.line(command.presented.lineID), var token = line.refreshToken,
            token.lineSecretDigest.isSame(as: command.presented.lineSecretDigest)
        else { throw GrantRefusal(.refreshTokenNotFound) }
        guard held.record.oauthClientID == command.oauthClientID else {
            throw GrantRefusal(.refreshTokenOfAnotherClient)
        }
        let end = command.end(of: line)
        guard command.moment < line.expiresAt, command.moment < end else {
            throw GrantRefusal(.refreshTokenNotFound)
        }
        let isCurrent = token.digest.isSame(as: command.presented.digest)
        guard isCurrent || token.isLostAnswer(command) else {
            // Without rotation there is no old token: this one was never given.
            guard command.successor != nil || token.previous != nil else {
                throw GrantRefusal(.refreshTokenNotFound)
            }
            endLines(of: held.record, reason: .tokenReused, at: command.moment, using: &generator) {
                $0.id == line.id
            }
            throw GrantRefusal(.refreshTokenReused)
        }
        let standing = try standing(held.record)
        guard standing.admits(authorizedAt: line.authorizedAt) else { throw GrantRefusal(.credentialRevoked) }
        let asked = try Self.narrowed(line.scope, to: command.scope)
        // Before the token is replaced: its client gets no successor, and could never refresh again.
        guard let scope = command.clientScopes.remainder(of: asked) else {
            throw GrantRefusal(.scopeWithdrawn)
        }

        if let successor = command.successor {
            token.rotate(to: successor.digest, isCurrent: isCurrent, at: command.moment)
        }
        line.refreshToken = token
        line.expiresAt = end
        ledger.put(line)
        return IssuedTokens(
            grant: held.record, line: line, scope: scope, account: standing.account,
            hasNewRefreshToken: command.successor != nil)
    }

    /// A part of what the person has agreed to, and never more (RFC 6749 §6).
    private static func narrowed(_ scope: String, to wanted: String?) throws(GrantRefusal) -> String {
        guard let wanted else { return scope }
        guard let granted = ScopeSet(parsing: scope), let asked = ScopeSet(parsing: wanted),
            asked.isSubset(of: granted)
        else { throw GrantRefusal(.scopeExceeded) }
        return granted.intersection(asked).text
    }
}

extension RefreshCommand {
    /// When the line ends after this use.
    fileprivate func end(of line: TokenLine) -> Moment {
        guard let longestLine else { return lineExpiresAt }
        return min(lineExpiresAt, line.createdAt.advanced(byMilliseconds: longestLine))
    }
}

extension RefreshTokenState {
    /// Whether the token before the current one came again soon. The current one is unused then, because its
    /// use would have made another one the one before.
    fileprivate func isLostAnswer(_ command: RefreshCommand) -> Bool {
        guard command.successor != nil, let previous,
            previous.digest.isSame(as: command.presented.digest)
        else { return false }
        return command.moment
            < previous.rotatedAt.advanced(byMilliseconds: GrantWorkingSet.lostAnswerTime)
    }

    /// Puts the successor in the place of the current token, or of the one whose answer was lost. The time of
    /// the first rotation stays, so that a token cannot come again for ever.
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

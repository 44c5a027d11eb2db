public import AppleAccounts
import Cryptography

/// A use of a refresh token (RFC 6749 §6).
public struct RefreshCommand: Sendable, Hashable {
    public let oauthClientID: OAuthClientID
    public let presented: RefreshTokenText
    /// The exchange; `nil` for clients whose tokens are not rotated.
    public let rotation: Rotation?
    /// Requested scope, space-separated; `nil` for the whole scope of the token family.
    public let scope: String?
    /// The client's scopes in the configuration. A token for none of them is not consumed.
    public let clientScopes: ScopeSet
    /// Expiration of the token family if the token is not used again.
    public let familyExpiresAt: Moment
    /// Longest lifetime in milliseconds of a token family from its beginning,
    /// however often it is used. `nil` means forever.
    public let longestLine: Int64?
    public let moment: Moment

    /// Origin for the audit log.
    public let origin: AuditOrigin

    public init(
        oauthClientID: OAuthClientID, presented: RefreshTokenText, rotation: Rotation?,
        scope: String?, clientScopes: ScopeSet, familyExpiresAt: Moment, longestLine: Int64? = nil,
        moment: Moment, origin: AuditOrigin = .current
    ) {
        self.oauthClientID = oauthClientID
        self.presented = presented
        self.rotation = rotation
        self.scope = scope
        self.clientScopes = clientScopes
        self.familyExpiresAt = familyExpiresAt
        self.longestLine = longestLine
        self.moment = moment
        self.origin = origin
    }

    /// Values for the exchange of a token for its successor.
    public struct Rotation: Sendable, Hashable {
        /// 32 random bytes, from which the successor is derived if this is the first exchange of the token.
        /// They are in the command, so that a transaction that runs twice has the same result.
        public let salt: [UInt8]
        /// Milliseconds since its first exchange in which a token may be exchanged again.
        public let retryWindow: Int64

        public init(salt: [UInt8], retryWindow: Int64) {
            (self.salt, self.retryWindow) = (salt, retryWindow)
        }
    }
}

extension GrantWorkingSet {
    /// Uses a refresh token (RFC 6749 §6), and exchanges it for the newest token of its family if the command
    /// has a rotation.
    ///
    /// It checks the secret of the token family first, so that only a holder of a token of the family can end
    /// it with an old token (RFC 9700 §4.14); then the client, and then the token itself.
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
        guard let use = token.use(by: command) else {
            // Without rotation there is no old token: this token was never issued.
            guard command.rotation != nil || !token.exchanged.isEmpty else {
                throw GrantRefusal(.refreshTokenForged)
            }
            endFamilies(of: held.record, reason: .tokenReused, at: command.moment, using: &generator) {
                $0.id == family.id
            }
            throw GrantRefusal(.refreshTokenReused)
        }
        let status = try status(held.record, authorizedAt: family.authorizedAt, at: command.moment)
        let asked = try Self.narrowed(family.scope, to: command.scope)
        // Checked before the token is replaced: after a refusal its client gets
        // no successor, and could never refresh again.
        guard let scope = command.clientScopes.remainder(of: asked) else {
            throw GrantRefusal(.scopeWithdrawn)
        }

        let successor = try token.carryOut(use, command)
        family.refreshToken = token
        family.expiresAt = end
        ledger.put(family)
        return IssuedTokens(
            grant: noteUse(of: held.record, at: command.moment), family: family, scope: scope,
            account: status.account, hasNewRefreshToken: successor != nil, successor: successor)
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
    /// Returns the expiration of the token family after this use.
    fileprivate func end(of family: TokenFamily) -> Moment {
        guard let longestLine else { return familyExpiresAt }
        return min(familyExpiresAt, family.createdAt.advanced(byMilliseconds: longestLine))
    }
}

/// The repetition of exchanges. Every exchange of a token yields the newest token, in any order of the
/// repetitions, because each token is derived from the token before it.
extension RefreshTokenState {
    /// Number of exchanged tokens that a token family stores.
    package static let mostExchanged = 4
    /// Milliseconds in which the token before the newest token may be repeated if the newest token
    /// was never used, because its response was lost.
    package static let lostResponseTime: Int64 = 86_400_000
    /// The same for a token that a version without salts has exchanged. Its successor is then replaced.
    package static let lostResponseTimeWithoutSalt: Int64 = 30_000
    /// Longest configurable retry window, in milliseconds.
    package static let longestRetryWindow: Int64 = 600_000

    /// A permitted use of a token of the family.
    fileprivate enum Use {
        /// The newest token. The first exchange.
        case newest
        /// A repetition, which returns the newest token.
        case repetition(RefreshTokenText)
        /// A repetition without a salt.
        case replacement
    }

    /// Returns the use; `nil` for a token that may not be used.
    fileprivate func use(by command: RefreshCommand) -> Use? {
        let presented = command.presented.digest
        if digest.isSame(as: presented) { return .newest }
        guard let rotation = command.rotation,
            let place = exchanged.firstIndex(where: { $0.digest.isSame(as: presented) })
        else { return nil }
        if mayRepeat(place, rotation, at: command.moment), let newest = newest(command.presented, place) {
            return .repetition(newest)
        }
        let end = exchanged[place].moment.advanced(byMilliseconds: Self.lostResponseTimeWithoutSalt)
        return place == 0 && command.moment < end ? .replacement : nil
    }

    private func mayRepeat(_ place: Int, _ rotation: RefreshCommand.Rotation, at moment: Moment) -> Bool {
        // Only the successor of the latest exchanged token was never exchanged.
        let time = place == 0 ? max(rotation.retryWindow, Self.lostResponseTime) : rotation.retryWindow
        return moment < exchanged[place].moment.advanced(byMilliseconds: time)
    }

    /// Derives the newest token from an exchanged token. Returns `nil` if the salts do not lead to it: a
    /// replica of an earlier version has rotated without them.
    private func newest(_ presented: RefreshTokenText, _ place: Int) -> RefreshTokenText? {
        var text = presented
        for token in exchanged[...place].reversed() {
            guard let next = token.salt.flatMap({ text.successor(salt: $0) }) else { return nil }
            text = next
        }
        return text.digest.isSame(as: digest) ? text : nil
    }

    /// Returns the text of the newest token; `nil` without rotation.
    fileprivate mutating func carryOut(
        _ use: Use, _ command: RefreshCommand
    ) throws(GrantRefusal) -> RefreshTokenText? {
        guard let rotation = command.rotation else { return nil }
        defer { forgetSalts(rotation, at: command.moment) }
        if case .repetition(let newest) = use { return newest }
        guard let successor = command.presented.successor(salt: rotation.salt) else {
            throw GrantRefusal(.refreshTokenExpired)
        }
        if case .newest = use {
            exchanged.insert(
                ExchangedToken(digest: digest, moment: command.moment, salt: rotation.salt), at: 0)
            generation &+= 1
        } else {
            // The time of the first exchange stays, so that a token cannot be repeated forever.
            exchanged[0].salt = rotation.salt
        }
        digest = successor.digest
        return successor
    }

    /// Erases the salts that no exchange can be repeated with. A salt
    /// serves its own token and the tokens before it.
    private mutating func forgetSalts(_ rotation: RefreshCommand.Rotation, at moment: Moment) {
        let kept = exchanged.indices.prefix(Self.mostExchanged).last { mayRepeat($0, rotation, at: moment) }
        exchanged = Array(exchanged.prefix(max((kept ?? 0) + 1, 1)))
        if kept == nil, !exchanged.isEmpty { exchanged[0].salt = nil }
    }
}

extension SHA256Digest {
    /// Returns true for equal digests. The duration does not depend on the position of a difference.
    func isSame(as other: SHA256Digest) -> Bool { ConstantTime.areEqual(self, other) }
}

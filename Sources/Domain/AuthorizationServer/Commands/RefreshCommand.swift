public import AppleAccounts
import Cryptography

/// A client's request to use a refresh token (RFC 6749 §6).
public struct RefreshCommand: Sendable, Hashable {
    public let oauthClientID: OAuthClientID
    public let presented: RefreshTokenText
    /// The values for exchanging the token. `nil` if the client's tokens are not rotated.
    public let rotation: Rotation?
    /// Requested scope, space-separated. `nil` means the token family's whole scope.
    public let scope: String?
    /// The client's configured scopes. If they contain none of the token's scopes, the token is not consumed.
    public let clientScopes: ScopeSet
    /// Expiry time of the token family if the client does not use the token again.
    public let familyExpiresAt: Moment
    /// Maximum lifetime of a token family from its beginning, regardless of use, in milliseconds. `nil` means
    /// no limit.
    public let longestLine: Int64?
    public let moment: Moment

    /// The command's origin, for the audit log.
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

    /// Values for exchanging a token for its successor.
    public struct Rotation: Sendable, Hashable {
        /// 32 random bytes. The successor is derived from them when the token is first exchanged. They are
        /// part of the command so that a transaction that runs twice has the same result.
        public let salt: [UInt8]
        /// Time after a token's first exchange during which it may be exchanged again, in milliseconds.
        public let retryWindow: Int64

        public init(salt: [UInt8], retryWindow: Int64) {
            (self.salt, self.retryWindow) = (salt, retryWindow)
        }
    }
}

extension GrantWorkingSet {
    /// Uses a refresh token (RFC 6749 §6). With a rotation, the token is exchanged for the newest token of
    /// its family.
    ///
    /// The family secret is checked first, so that only someone who holds a token of the family can end it
    /// with an old token (RFC 9700 §4.14). The client comes next, and then the token itself.
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
            // Without rotation a family has no old tokens, so the service cannot have issued this one.
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
        // This check runs before the exchange, because a client that is refused gets no successor and could
        // never refresh again.
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

    /// Returns the requested part of the scope, which must not exceed the scope that the user agreed to (RFC
    /// 6749 §6).
    private static func narrowed(_ scope: String, to wanted: String?) throws(GrantRefusal) -> String {
        guard let wanted else { return scope }
        guard let granted = ScopeSet(parsing: scope), let asked = ScopeSet(parsing: wanted),
            asked.isSubset(of: granted)
        else { throw GrantRefusal(.scopeExceeded) }
        return granted.intersection(asked).text
    }
}

extension RefreshCommand {
    /// Returns the token family's expiry time after this use.
    fileprivate func end(of family: TokenFamily) -> Moment {
        guard let longestLine else { return familyExpiresAt }
        return min(familyExpiresAt, family.createdAt.advanced(byMilliseconds: longestLine))
    }
}

/// Repeated exchanges. They yield the newest token in any order of arrival, because each token is derived
/// from its predecessor.
extension RefreshTokenState {
    /// Number of exchanged tokens kept per token family.
    package static let mostExchanged = 4
    /// Milliseconds (a day) during which a client may repeat its latest exchange, as long as it has never
    /// used the newest token. The response with that token may have been lost.
    package static let lostResponseTime: Int64 = 86_400_000
    /// `lostResponseTime` for a token that was exchanged by a service version without salts, in milliseconds.
    /// A new token then replaces the successor.
    package static let lostResponseTimeWithoutSalt: Int64 = 30_000
    /// Longest configurable retry window, in milliseconds.
    package static let longestRetryWindow: Int64 = 600_000

    /// A permitted use of one of the family's tokens.
    fileprivate enum Use {
        /// The newest token is exchanged for the first time.
        case newest
        /// An earlier exchange is repeated, which returns the newest token.
        case repetition(RefreshTokenText)
        /// An earlier exchange without a salt is repeated, which replaces the newest token.
        case replacement
    }

    /// Returns the kind of use. Returns `nil` if the token may not be used.
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
        // The client may have missed only the latest exchange's response, and with it the successor.
        let time = place == 0 ? max(rotation.retryWindow, Self.lostResponseTime) : rotation.retryWindow
        return moment < exchanged[place].moment.advanced(byMilliseconds: time)
    }

    /// Derives the newest token from an exchanged token. Returns `nil` if the salts do not lead to the newest
    /// token, because a replica of an earlier version has rotated the token without them.
    private func newest(_ presented: RefreshTokenText, _ place: Int) -> RefreshTokenText? {
        var text = presented
        for token in exchanged[...place].reversed() {
            guard let next = token.salt.flatMap({ text.successor(salt: $0) }) else { return nil }
            text = next
        }
        return text.digest.isSame(as: digest) ? text : nil
    }

    /// Applies the use and returns the text of the newest token. Returns `nil` if tokens are not rotated.
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
            // The time of the first exchange is kept, because otherwise the client could repeat the exchange
            // forever.
            exchanged[0].salt = rotation.salt
        }
        digest = successor.digest
        return successor
    }

    /// Erases the salts that are no longer needed for permitted repetitions. A repetition needs the salt of
    /// its own token and the salts of all later tokens.
    private mutating func forgetSalts(_ rotation: RefreshCommand.Rotation, at moment: Moment) {
        let kept = exchanged.indices.prefix(Self.mostExchanged).last { mayRepeat($0, rotation, at: moment) }
        exchanged = Array(exchanged.prefix(max((kept ?? 0) + 1, 1)))
        if kept == nil, !exchanged.isEmpty { exchanged[0].salt = nil }
    }
}

extension SHA256Digest {
    /// Returns true if the digests are equal. The comparison runs in constant time.
    func isSame(as other: SHA256Digest) -> Bool { ConstantTime.areEqual(self, other) }
}

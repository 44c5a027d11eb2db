public import AppleAccounts
import Encodings

/// Issues tokens for a Google assertion, without a code (streamlined linking, intent `get`).
public struct AssertionCommand: Sendable, Hashable {
    public let accountID: AccountID
    public let newGrantID: GrantID
    public let oauthClientID: OAuthClientID
    public let clientID: ClientID
    public let googleSubject: String
    public let match: GoogleAccountMatch
    /// The time at which Google issued the assertion (`iat`), by Google's clock.
    public let assertedAt: Moment
    public let scope: String
    public let newFamilyID: UniqueID
    public let refreshToken: NewRefreshToken
    public let limits: FamilyLimits
    public let moment: Moment

    /// The command's origin, for the audit log.
    public let origin: AuditOrigin

    public init(
        accountID: AccountID, newGrantID: GrantID, oauthClientID: OAuthClientID, clientID: ClientID,
        googleSubject: String, match: GoogleAccountMatch, assertedAt: Moment, scope: String,
        newFamilyID: UniqueID, refreshToken: NewRefreshToken,
        limits: FamilyLimits, moment: Moment, origin: AuditOrigin = .current
    ) {
        self.accountID = accountID
        self.newGrantID = newGrantID
        self.oauthClientID = oauthClientID
        self.clientID = clientID
        self.googleSubject = googleSubject
        self.match = match
        self.assertedAt = assertedAt
        self.scope = scope
        self.newFamilyID = newFamilyID
        self.refreshToken = refreshToken
        self.limits = limits
        self.moment = moment
        self.origin = origin
    }
}

/// A Google assertion for an account that may already be linked. It yields no tokens (streamlined linking,
/// intent `create`).
public struct LearnGoogleSubjectCommand: Sendable, Hashable {
    public let accountID: AccountID
    public let oauthClientID: OAuthClientID
    public let googleSubject: String
    public let match: GoogleAccountMatch
    /// The time at which Google issued the assertion (`iat`), by Google's clock.
    public let assertedAt: Moment

    public init(
        accountID: AccountID, oauthClientID: OAuthClientID, googleSubject: String, match: GoogleAccountMatch,
        assertedAt: Moment
    ) {
        self.accountID = accountID
        self.oauthClientID = oauthClientID
        self.googleSubject = googleSubject
        self.match = match
        self.assertedAt = assertedAt
    }
}

/// The match between a Google account and an account in this service. That account can change in the
/// meantime, so the transaction checks the match again.
public enum GoogleAccountMatch: Sendable, Hashable {
    /// One of the client's token families is linked with this Google account.
    case link
    /// The account was created by this Google account.
    case origin
    /// The account has this e-mail address, which Google has verified.
    case email(String)
}

extension GrantWorkingSet {
    /// Issues tokens if Google asserts that a Google account and an account in this service belong to the
    /// same user (streamlined linking, intent `get`). The user has already agreed at Google.
    mutating func apply(
        _ command: AssertionCommand, using generator: inout some RandomNumberGenerator
    ) throws(GrantRefusal) -> IssuedTokens {
        guard !isDisabled(googleSubject: command.googleSubject, since: command.assertedAt) else {
            throw GrantRefusal(.googleAccountDisabled)
        }
        let user = try user(command.accountID)
        guard
            isMatched(
                command.googleSubject, command.match, command.accountID, user.record,
                of: command.oauthClientID)
        else { throw GrantRefusal(.accountNotMatched) }
        let status = try status(of: command.accountID, app: command.clientID, at: command.moment)
        guard status.isAuthorized, let authorization = status.credential.authorization else {
            throw GrantRefusal(.credentialRevoked)
        }
        try checkFamilyPace(of: command.accountID, to: command.oauthClientID, at: command.moment)
        let grant = try agree(
            to: command.scope, of: command.oauthClientID, command.accountID, app: command.clientID,
            newGrantID: command.newGrantID, authorizedAt: authorization.moment,
            googleSubject: command.googleSubject, at: command.moment, using: &generator)
        learn(googleSubject: command.googleSubject, of: grant.id)
        let family = try begin(
            NewFamily(
                id: command.newFamilyID, scope: command.scope, isNative: false,
                refreshToken: command.refreshToken,
                // Google's clock may be ahead of ours. The earlier time is used, because a later event can
                // only end token families that are older than the event.
                authenticatedAt: min(command.assertedAt, command.moment),
                authorizedAt: authorization.moment, expiresAt: .last,
                googleSubject: command.googleSubject),
            of: grant, command.limits, at: command.moment, using: &generator)
        return IssuedTokens(
            grant: noteUse(of: grant, at: command.moment), family: family, scope: family.scope,
            account: status.account,
            hasNewRefreshToken: true)
    }
}

// Links that began in the browser or with App Flip have no Google account at first.
extension GrantWorkingSet {
    /// Adds the Google account to an existing link.
    ///
    /// - Returns: The number of token families that the Google account was added to.
    mutating func apply(_ command: LearnGoogleSubjectCommand) throws(GrantRefusal) -> Int {
        guard !isDisabled(googleSubject: command.googleSubject, since: command.assertedAt) else {
            throw GrantRefusal(.googleAccountDisabled)
        }
        let record = try user(command.accountID).record
        guard
            isMatched(
                command.googleSubject, command.match, command.accountID, record, of: command.oauthClientID)
        else { throw GrantRefusal(.accountNotMatched) }
        guard let grant = ledger.grant(of: command.accountID, for: command.oauthClientID) else { return 0 }
        return learn(googleSubject: command.googleSubject, of: grant.record.id)
    }

    /// Adds the Google account to each of the grant's token families that has none. Does nothing if the grant
    /// has a family of another Google account, because a family without a Google account could then belong to
    /// either Google account.
    ///
    /// Even so, the user may have linked a different Google account in the browser. A learned family
    /// therefore never gives a Google account access to the account (`isMatched`). The worst case is that a
    /// Google event ends the family, and the user has to link again.
    @discardableResult
    mutating func learn(googleSubject: String, of id: GrantID) -> Int {
        guard let grant = ledger.grant(id) else { return 0 }
        let known = grant.families.compactMap(\.googleSubject)
        let count = grant.families.count - known.count
        guard count > 0, known.allSatisfy({ $0.isByteEqual(to: googleSubject) }) else { return 0 }
        ledger.changeFamilies(of: id) { family in
            guard family.googleSubject == nil else { return }
            (family.googleSubject, family.isGoogleSubjectLearned) = (googleSubject, true)
        }
        var record = grant.record
        record.googleSubject = record.googleSubject ?? googleSubject
        ledger.put(record)
        return count
    }

    /// Returns true if the Google account still matches the account.
    func isMatched(
        _ googleSubject: String, _ match: GoogleAccountMatch, _ accountID: AccountID, _ record: SubjectRecord,
        of client: OAuthClientID
    ) -> Bool {
        // An account that was created by a Google account can only be opened by that Google account. A second
        // Google account with the same address cannot open it, because addresses can pass to other users.
        if record.key.subject.isMadeByGoogle {
            guard record.key.subject == AppleSubject(madeBy: googleSubject) else { return false }
        }
        switch match {
        case .origin: return record.key.subject.isMadeByGoogle
        case .link:
            let families = ledger.grant(of: accountID, for: client)?.families ?? []
            return families.contains { !$0.isGoogleSubjectLearned && $0.isLinked(with: googleSubject) }
        case .email(let address): return record.hasVerifiedAddress(address)
        }
    }
}

extension SubjectRecord {
    /// Returns true if this is the user's address, was verified when it was stored, and is not a relay
    /// address. The comparison ignores ASCII case, as the databases do.
    fileprivate func hasVerifiedAddress(_ address: String) -> Bool {
        guard let email = email?.value, email.isVerified, email.isPrivate != true else { return false }
        return email.address.utf8.elementsEqual(address.utf8) { $0.asciiLowercased == $1.asciiLowercased }
    }
}

extension UInt8 {
    fileprivate var asciiLowercased: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
    }
}

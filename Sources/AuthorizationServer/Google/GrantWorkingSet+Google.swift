import AppleAccounts
import Cryptography
import Encodings

extension GrantWorkingSet {
    /// Issues tokens when Google states that an account of ours and a Google account belong to the same user
    /// (streamlined linking, intent `get`). The user agreed at Google.
    mutating func apply(
        _ command: AssertionCommand, using generator: inout some RandomNumberGenerator
    ) throws(GrantRefusal) -> IssuedTokens {
        guard !isDisabled(googleSubject: command.googleSubject, since: command.assertedAt) else {
            throw GrantRefusal(.googleAccountDisabled)
        }
        let user = try user(command.accountID)
        guard isMatched(command, user.record) else { throw GrantRefusal(.accountNotMatched) }
        let status = AccountStatus(
            account: user.account, credential: user.record.record(for: command.clientID))
        guard status.isAuthorized, let authorization = status.credential.authorization else {
            throw GrantRefusal(.credentialRevoked)
        }
        let grant = try agree(
            to: command.scope, of: command.oauthClientID, command.accountID, app: command.clientID,
            newGrantID: command.newGrantID, authorizedAt: authorization.moment,
            googleSubject: command.googleSubject, at: command.moment, using: &generator)
        let family = begin(
            NewFamily(
                id: command.newFamilyID, scope: command.scope, isNative: false,
                refreshToken: command.refreshToken,
                // Google's clock may be ahead. A later event must still find the token family to be older.
                authenticatedAt: min(command.assertedAt, command.moment),
                authorizedAt: authorization.moment, expiresAt: .last,
                googleSubject: command.googleSubject),
            of: grant, command.limits, at: command.moment, using: &generator)
        return IssuedTokens(
            grant: grant, family: family, scope: family.scope, account: status.account,
            hasNewRefreshToken: true)
    }

    /// Returns `true` if the Google account still leads to this account.
    private func isMatched(_ command: AssertionCommand, _ record: SubjectRecord) -> Bool {
        // An account made by one Google account is never entered by another, even when both have the same
        // address: an address can pass from user to user.
        if record.key.subject.isMadeByGoogle {
            guard record.key.subject == AppleSubject(madeBy: command.googleSubject) else { return false }
        }
        switch command.match {
        case .origin: return record.key.subject.isMadeByGoogle
        case .link:
            let families = ledger.grant(of: command.accountID, for: command.oauthClientID)?.families ?? []
            return families.contains { $0.isLinked(with: command.googleSubject) }
        case .email(let address): return record.hasVerifiedAddress(address)
        }
    }

    /// Applies a security event of Google, once for each `jti`. Events that arrive in another order leave the
    /// same state.
    mutating func apply(
        _ command: GoogleEventCommand, using generator: inout some RandomNumberGenerator
    ) -> GoogleEventReceipt {
        guard keep(command) else { return .duplicate }
        for change in command.changes {
            switch change {
            case .endFamilies(let subject, let moment, let clients):
                endFamilies(linkedWith: subject, of: clients, at: command.receivedAt, using: &generator) {
                    $0.authenticatedAt <= moment
                }
            case .endToken(let digest, let clients):
                endFamilies(of: clients, at: command.receivedAt, using: &generator) {
                    $0.refreshToken?.doubleSHA512 == digest
                }
            case .disable(let subject, let moment):
                update(with: GoogleAccountRecord(subject: subject, isDisabled: true, moment: moment))
                // Unless Google has enabled the account since. A token family can be younger than the event,
                // because delivery takes time, and no link of a disabled account is valid.
                guard isDisabled(googleSubject: subject) else { break }
                endFamilies(linkedWith: subject, of: nil, at: command.receivedAt, using: &generator) { _ in
                    true
                }
            case .enable(let subject, let moment):
                update(with: GoogleAccountRecord(subject: subject, isDisabled: false, moment: moment))
            case .other: break
            }
        }
        return .applied
    }

    /// Ends token families linked with a Google account, and no other families of their grants. A link that
    /// was made after an event has a younger assertion, so a late event does not end it.
    private mutating func endFamilies(
        linkedWith subject: String, of clients: Set<OAuthClientID>?, at now: Moment,
        using generator: inout some RandomNumberGenerator, where isMeant: (TokenFamily) -> Bool
    ) {
        endFamilies(of: clients, at: now, using: &generator) { $0.isLinked(with: subject) && isMeant($0) }
    }

    /// - Parameter clients: `nil` for all.
    private mutating func endFamilies(
        of clients: Set<OAuthClientID>?, at now: Moment, using generator: inout some RandomNumberGenerator,
        where isMeant: (TokenFamily) -> Bool
    ) {
        let grants = ledger.all { grant in
            (clients?.contains(grant.record.oauthClientID) ?? true) && grant.families.contains(where: isMeant)
        }
        for grant in grants.map(\.record) {
            endFamilies(of: grant, reason: .googleRevoked, at: now, using: &generator, where: isMeant)
        }
    }
}

extension TokenFamily {
    /// Compares bytes, as the databases do.
    fileprivate func isLinked(with subject: String) -> Bool {
        googleSubject?.isByteEqual(to: subject) ?? false
    }
}

extension SubjectRecord {
    /// Returns `true` if the address is the user's, was authoritative when it was stored, and is no relay.
    /// The case of ASCII letters is ignored, as in the databases.
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

import AppleAccounts
import Cryptography
import Encodings

extension GrantWorkingSet {
    /// Gives tokens when Google states that an account of ours and one of theirs are the same person's
    /// (streamlined linking, intent `get`). The person agreed at Google.
    mutating func apply(
        _ command: AssertionCommand, using generator: inout some RandomNumberGenerator
    ) throws(GrantRefusal) -> IssuedTokens {
        guard !isDisabled(googleSubject: command.googleSubject) else {
            throw GrantRefusal(.googleAccountDisabled)
        }
        let person = try person(command.accountID)
        let standing = AccountStanding(
            account: person.account, credential: person.record.record(for: command.clientID))
        guard standing.isAuthorized, let authorization = standing.credential.authorization else {
            throw GrantRefusal(.credentialRevoked)
        }
        unlinkOthers(command)
        let grant = agree(
            to: command.scope, of: command.oauthClientID, command.accountID, app: command.clientID,
            newGrantID: command.newGrantID, authorizedAt: authorization.moment,
            googleSubject: command.googleSubject, at: command.moment, using: &generator)
        let line = begin(
            NewLine(
                id: command.newLineID, scope: command.scope, isNative: false,
                refreshToken: command.refreshToken, authenticatedAt: command.moment,
                authorizedAt: authorization.moment, expiresAt: .last),
            of: grant, command.ceilings, at: command.moment, using: &generator)
        return IssuedTokens(
            grant: grant, line: line, scope: line.scope, account: standing.account, hasNewRefreshToken: true)
    }

    /// A Google account leads to one account of ours for each client: the one that was linked last.
    private mutating func unlinkOthers(_ command: AssertionCommand) {
        let others = ledger.all { grant in
            grant.record.oauthClientID == command.oauthClientID
                && grant.record.accountID != command.accountID
                && grant.record.isLinked(with: command.googleSubject)
        }
        for grant in others {
            var record = grant.record
            record.googleSubject = nil
            ledger.put(record)
        }
    }

    /// Does what a security event of Google's asks for, once for each `jti`. Events that come in another
    /// order leave the same state.
    mutating func apply(
        _ command: GoogleEventCommand, using generator: inout some RandomNumberGenerator
    ) -> GoogleEventReceipt {
        guard keep(command) else { return .duplicate }
        for change in command.changes {
            switch change {
            case .endGrants(let subject, let moment):
                endGrants(linkedWith: subject, upTo: moment, at: command.receivedAt, using: &generator)
            case .endToken(let digest):
                endToken(digest, at: command.receivedAt, using: &generator)
            case .disable(let subject, let moment):
                update(with: GoogleAccountRecord(subject: subject, isDisabled: true, moment: moment))
            case .enable(let subject, let moment):
                update(with: GoogleAccountRecord(subject: subject, isDisabled: false, moment: moment))
            case .other: break
            }
        }
        return .applied
    }

    /// Ends what was given up to a moment of Google's. A link that was made since is left alone, so that an
    /// event which comes late does not end it.
    private mutating func endGrants(
        linkedWith subject: String, upTo moment: Moment, at now: Moment,
        using generator: inout some RandomNumberGenerator
    ) {
        for grant in ledger.all(where: { $0.record.isLinked(with: subject) }).map(\.record) {
            guard grant.consentedAt > moment else {
                end(grant, reason: .googleRevoked, at: now, using: &generator)
                continue
            }
            ledger.removeCodes(of: grant.id) { $0.issuedAt <= moment }
            ledger.removeLines(of: grant.id, reason: .googleRevoked, at: now, using: &generator) {
                $0.createdAt <= moment
            }
        }
    }

    private mutating func endToken(
        _ digest: SHA512Digest, at now: Moment, using generator: inout some RandomNumberGenerator
    ) {
        func isMeant(_ line: TokenLine) -> Bool { line.refreshToken?.doubleSHA512 == digest }
        for grant in ledger.all(where: { $0.lines.contains(where: isMeant) }).map(\.record) {
            endLines(of: grant, reason: .googleRevoked, at: now, using: &generator, where: isMeant)
        }
    }
}

extension GrantRecord {
    /// Compared by bytes, as the databases do it.
    fileprivate func isLinked(with subject: String) -> Bool {
        googleSubject?.isByteEqual(to: subject) ?? false
    }
}

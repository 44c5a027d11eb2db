import AppleAccounts
import Encodings

// Links that began in the browser or by App Flip do not name their Google account.
extension GrantWorkingSet {
    /// Learns the Google account of an existing link.
    ///
    /// - Returns: The number of token families that were learned.
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

    /// Notes the Google account of the token families of a grant that have none, unless another Google account
    /// is known in the grant: then it is not known which account they belong to.
    ///
    /// The user may still have linked another Google account in the browser. Therefore a learned family never
    /// leads a Google account to the account (`isMatched`); it can only be ended, and the user links again.
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

    /// Returns `true` if a Google account still leads to an account.
    func isMatched(
        _ googleSubject: String, _ match: GoogleAccountMatch, _ accountID: AccountID, _ record: SubjectRecord,
        of client: OAuthClientID
    ) -> Bool {
        // An account made by one Google account is never entered by another, even when both have the same
        // address: an address can pass from user to user.
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

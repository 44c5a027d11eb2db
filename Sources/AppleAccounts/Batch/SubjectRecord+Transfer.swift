extension SubjectRecord {
    /// This subject, which has no account, with the account of another one in it.
    ///
    /// What Apple has told the receiving team stays. The tokens of the giving team are not valid here, and
    /// its relay address does not reach the person any more.
    ///
    /// - Parameters:
    ///   - other: Where the account was; `nil` for one that is not in this database.
    ///   - email: As the receiving team has it.
    func takingOver(
        _ other: SubjectRecord?, id: AccountID, createdAt: Moment, email: LastWriter<EmailAddress>?
    ) -> SubjectRecord {
        var result = self
        result.leaveTombstone()
        result.accountID = id
        result.createdAt = other?.createdAt ?? createdAt
        result.email = email?.merged(with: self.email) ?? self.email
        if let other { result.take(other) }
        if result.email != nil { result.unsignedEmail = nil }
        guard other != nil else {
            result.touchRow()
            return result
        }
        // The other's row becomes this subject's, with all credentials written anew.
        result.isStored = true
        result.rowChange = .update
        for index in result.credentials.indices { result.credentials[index].rowChange = .insert }
        return result
    }

    private mutating func take(_ other: SubjectRecord) {
        if email == nil, let known = other.email, known.value.isPrivate != true { email = known }
        unsignedEmail = other.unsignedEmail
        forwarding = forwarding ?? other.forwarding
        profile = other.profile
        realUserStatus = other.realUserStatus
        if let theirs = other.revocationOfAllApps {
            revocationOfAllApps = revocationOfAllApps.map { max($0, theirs) } ?? theirs
        }
        for theirs in other.credentials {
            let index = touchCredential(of: theirs.clientID)
            credentials[index].record.merge(theirs.record)
            credentials[index].lastSignInAt = theirs.lastSignInAt
            credentials[index].refreshToken = theirs.refreshToken
            if theirs.refreshToken?.mayHaveGrants == true {
                credentials[index].refreshToken = .unavailable(.transferred)
            }
        }
    }
}

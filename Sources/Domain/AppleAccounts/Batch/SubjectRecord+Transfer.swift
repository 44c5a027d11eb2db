extension SubjectRecord {
    /// Returns this subject, which has no account, with the account of another subject.
    ///
    /// Facts that Apple has sent to the receiving team stay. The tokens of the giving team are not valid
    /// here, and its relay address does not reach the user after the transfer.
    ///
    /// - Parameters:
    ///   - other: Subject that had the account; `nil` for an account that is not in this database.
    ///   - email: Address at the receiving team.
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
        // The other subject's row becomes this subject's row, with all credentials written again.
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
        disabling = other.disabling
        sessionsEndedAt = other.sessionsEndedAt
        if let theirs = other.revocationOfAllApps {
            revocationOfAllApps = revocationOfAllApps.map { max($0, theirs) } ?? theirs
        }
        for theirs in other.credentials {
            let index = touchCredential(of: theirs.clientID)
            credentials[index].record.merge(theirs.record)
            credentials[index].lastSignInAt = theirs.lastSignInAt
            credentials[index].refreshToken = theirs.refreshToken
            if theirs.refreshToken?.mayHaveAppleTokens == true {
                credentials[index].refreshToken = .unavailable(.transferred)
            }
        }
    }
}

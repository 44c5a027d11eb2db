import AppleAccounts

extension JSONTree {
    init(_ account: Account) {
        self.init(members: [
            "id": JSONTree(account.id.rawValue), "team_id": JSONTree(account.team.rawValue),
            "sub": JSONTree(account.subject.rawValue), "email": account.email.map { JSONTree($0) },
            "email_verified": account.isEmailVerified.map { .bool($0) },
            "is_private_email": account.isPrivateEmail.map { .bool($0) },
            "email_forwarding": JSONTree(account.emailForwarding.rawValue),
            "first_name": account.profile.firstName.map { JSONTree($0) },
            "last_name": account.profile.lastName.map { JSONTree($0) },
            "credentials": .array(account.credentials.map { JSONTree($0) }),
        ])
    }

    init(_ credential: Credential) {
        self.init(members: [
            "client_id": JSONTree(credential.clientID.rawValue), "state": JSONTree(credential.state.rawValue),
            "reason": credential.reason.map { JSONTree($0.rawValue) },
            "source": credential.source.map { JSONTree($0.rawValue) },
            "since": credential.since.map { JSONTree($0.rfc3339) },
        ])
    }
}

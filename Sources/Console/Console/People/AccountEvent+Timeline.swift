import AppleAccounts

extension AccountEvent {
    /// False where the moment is ours.
    var hasMomentOfApple: Bool {
        switch source {
        case .signIn, .notification: true
        case .dailyCheck, .erasure, nil: false
        }
    }

    /// One sentence for a row without an entry of the history.
    var effect: String {
        switch kind {
        case .accountCreated: "The account was created."
        case .credentialAuthorized: "The credential is authorized from Apple's moment on."
        case .credentialRevoked: "The credential is revoked: \(reason?.words ?? "no reason is stored")."
        case .emailChanged: "Apple signed another address."
        case .emailForwardingChanged: "Apple changed the forwarding of mail."
        case .profileChanged: "The app posted a name, or Apple's estimate of the user rose."
        case .accountDeleted: "The person deleted the Apple Account."
        case .accountErased: "All personal data was deleted."
        case .accountTransferred: "The account moved to another team, and has another sub."
        case .grantCreated: "The person agreed that the client acts for them."
        case .grantRevoked, .tokenRevoked:
            "Tokens have ended: \(grant?.reason?.rawValue.replacing("_", with: " ") ?? "no reason is stored")."
        case .accountDisabled:
            "The person cannot sign in, and tokens are suspended. The audit log has the operator."
        case .accountEnabled: "The person can sign in again."
        case .sessionsEnded: "All sessions and grants before this moment have ended."
        }
    }

    var facts: [TimelineItem.Fact] {
        var facts: [TimelineItem.Fact] = []
        if let source { facts.append(TimelineItem.Fact(name: "source", value: source.rawValue)) }
        if let reason { facts.append(TimelineItem.Fact(name: "reason", value: reason.rawValue)) }
        if let grant {
            facts.append(TimelineItem.Fact(name: "client", value: grant.oauthClientID.rawValue))
            facts.append(TimelineItem.Fact(name: "grant", value: grant.id.rawValue))
            if let reason = grant.reason {
                facts.append(TimelineItem.Fact(name: "reason", value: reason.rawValue))
            }
        }
        return facts
    }
}

extension AccountEvent {
    var title: String {
        let client = grant?.oauthClientID.rawValue ?? "an OAuth client"
        return switch kind {
        case .accountCreated: "First sign-in"
        case .credentialAuthorized: "Sign-in"
        case .credentialRevoked: "Credential revoked"
        case .emailChanged: "Address changed"
        case .emailForwardingChanged: "Mail forwarding changed"
        case .profileChanged: "Profile changed"
        case .accountDeleted: "Apple Account deleted"
        case .accountErased: "Erased"
        case .accountTransferred: "Moved to another team"
        case .grantCreated: "Grant to \(client)"
        case .grantRevoked: "Grant of \(client) ended"
        case .accountDisabled: "Disabled"
        case .accountEnabled: "Enabled"
        case .sessionsEnded: "Signed out everywhere"
        case .tokenRevoked: "A token of \(client) ended"
        }
    }
}

extension AccountEvent.Kind {
    var look: TimelineItem.Look {
        switch self {
        case .accountCreated, .credentialAuthorized, .grantCreated, .accountEnabled: .good
        case .credentialRevoked, .accountDeleted, .accountErased: .bad
        case .accountDisabled, .sessionsEnded, .grantRevoked, .tokenRevoked: .warn
        case .emailChanged, .emailForwardingChanged, .profileChanged, .accountTransferred: .plain
        }
    }
}

import AppleAccounts
import AuthorizationServer

extension InspectedToken {
    /// Seconds by which a token can seem older than its grant. Two replicas can have written them, whose clocks differ.
    private static let largestSkew: Int64 = 10

    /// Adds the state of the user's grant to the client of a genuine ID token.
    ///
    /// - Parameters:
    ///   - grant: `nil` where the user grants the client nothing now.
    ///   - account: `nil` for an account that does not exist any more.
    ///   - issuedAt: Seconds since 1970, from the token.
    mutating func add(
        _ grant: GrantRecord?, of account: Account?, to client: OAuthClientID, issuedAt: Int64, at now: Moment
    ) {
        guard let account else { return refuse("The account does not exist any more.") }
        // A grant that ended, and that the user gave anew, is younger than the token.
        func addRow(_ found: String, hasPassed: Bool) {
            addCheck(
                "grant", hasPassed: hasPassed, code: "grant_ended", found: found,
                expected: "the grant under which the token was issued, in force",
                advice: "The client must let the user sign in again.")
        }
        guard let grant, grant.createdAt.milliseconds / 1000 - Self.largestSkew <= issuedAt else {
            addRow(grant == nil ? "no grant" : "a younger grant", hasPassed: false)
            return refuse(
                "The grant to \(client.rawValue) under which the token was issued has ended. The client must let "
                    + "the user sign in again.")
        }
        var members = [
            Member(name: "id", text: grant.id.rawValue), Member(name: "client", text: client.rawValue),
            Member(name: "app", text: grant.clientID.rawValue), Member(name: "scope", text: grant.scope),
            Member(name: "created", text: grant.createdAt.rfc3339),
        ]
        let credential = account.credentials.first { $0.clientID == grant.clientID }
        if let credential {
            members.append(Member(name: "credential", text: credential.state.rawValue))
        }
        addSection(Section(title: "grant of the user here", members: members))
        switch credential?.state {
        case .authorized:
            addRow(grant.id.rawValue, hasPassed: true)
            note("The user's grant to \(client.rawValue) is in force.")
        case .revoked, .notFound, nil:
            addRow("a grant whose credential is not authorized", hasPassed: false)
            refuse("The user's credential is not authorized any more.")
        }
        if account.isDisabled(at: now) { refuse("The account is disabled here.") }
    }

    /// Says that the database could not be asked.
    mutating func addUnknownGrant() {
        note("The state of the user's grant is not known: the database cannot be read.")
    }
}

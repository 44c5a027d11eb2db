import EmulatorServer

/// App transfers, and `/auth/usermigrationinfo`.
extension EmulatedWorld {
    /// Transfers an app to the recipient. The former team's tokens and codes end; consents stay.
    ///
    /// Throws `.clientIDUnknown`, `.memberMalformed` when the team already has the app, and
    /// `.tooManyTransfers`.
    mutating func transfer(
        _ clientID: String, to recipient: String, at now: Int64
    ) throws(EmulatorError) -> AppTransfer {
        guard let index = apps.firstIndex(where: { $0.clientIDs.contains(clientID) }) else {
            throw EmulatorError(.clientIDUnknown)
        }
        let app = apps[index].primaryClientID
        let sender = apps[index].teamID
        guard sender != recipient else {
            throw EmulatorError(.memberMalformed, detail: "team_id: the team already has the app")
        }
        let transfer = AppTransfer(app: app, sender: sender, recipient: recipient, acceptedAt: now)
        try transfers.add(transfer)
        users.addTeam(recipient)
        apps[index].teamID = recipient
        grants.end { $0.app == app }
        return transfer
    }

    /// The teams whose client secrets are accepted for a client ID: its owner, and for the migration of users
    /// also its former owner while the transfer is open.
    func teams(actingFor clientID: String, includingFormer: Bool, at now: Int64) -> [String] {
        guard let app = app(of: clientID) else { return [] }
        let former = includingFormer ? transfers.open(for: app.primaryClientID, at: now)?.sender : nil
        return [app.teamID] + (former.map { [$0] } ?? [])
    }

    /// Returns, for the sender, the identifier of a user for another team.
    ///
    /// Apple also issues these identifiers before the transfer, so that they can be transferred together with
    /// the data.
    mutating func transferSubject(
        of subject: String, sender: String, recipient: String, clientID: String, now: Int64
    ) throws(OAuthError) -> String {
        guard let app = app(of: clientID) else { throw OAuthError(.invalidClient, "client_id is unknown") }
        let found = try? users.find(subject)
        guard let found, found.identity.teamID == sender, !users[found.position].isDeleted else {
            throw OAuthError(.invalidRequest, "sub is not a user of this team")
        }
        guard !transfers.failing.contains(found.position) else {
            throw OAuthError(.invalidRequest, "this user cannot be migrated")
        }
        guard (1...64).contains(recipient.utf8.count), recipient != sender else {
            throw OAuthError(.invalidRequest, "target must be another team")
        }
        if sender != app.teamID {
            let transfer = transfers.open(for: app.primaryClientID, at: now)
            guard transfer?.recipient == recipient else {
                throw OAuthError(.invalidRequest, "target is not the team that received the app")
            }
        }
        return transfers.subject(of: found.position, known: found.identity, to: recipient)
    }

    /// Returns, for the recipient, the user's identity for its own team.
    func migratedUser(
        of transferSubject: String, recipient: String, clientID: String, now: Int64
    ) throws(OAuthError) -> MigratedUser {
        guard let app = app(of: clientID),
            let transfer = transfers.open(for: app.primaryClientID, at: now), transfer.recipient == recipient
        else {
            throw OAuthError(.invalidRequest, "no transfer of this app to this team is open")
        }
        guard let handover = transfers.handover(transferSubject), handover.recipient == recipient,
            handover.sender == transfer.sender, !users[handover.position].isDeleted
        else {
            throw OAuthError(.invalidRequest, "transfer_sub is not a user of this transfer")
        }
        guard !transfers.failing.contains(handover.position) else {
            throw OAuthError(.invalidRequest, "this user cannot be migrated")
        }
        let user = users[handover.position]
        let identity = user.identity(for: recipient)
        let sharesEmail = !user.emailWithheldFrom.contains(app.primaryClientID)
        return MigratedUser(
            subject: identity.subject, email: sharesEmail ? user.shownEmail(to: identity) : nil,
            isPrivateEmail: user.hidesEmail)
    }

    /// The `transfer_sub` of tokens while a transfer is open.
    mutating func transferSubject(ofTokenFor position: Int, clientID: String, at now: Int64) -> String? {
        guard let app = app(of: clientID),
            let transfer = transfers.open(for: app.primaryClientID, at: now)
        else {
            return nil
        }
        let identity = users[position].identity(for: transfer.sender)
        return transfers.subject(of: position, known: identity, to: transfer.recipient)
    }
}

/// Apps that change hands, and `/auth/usermigrationinfo`.
extension EmulatedWorld {
    /// The recipient accepts the app. Its tokens and codes were the former team's and end; consents stay.
    ///
    /// Throws `.clientIDUnknown`, `.memberMalformed` when the team has the app already, `.tooManyTransfers`.
    mutating func transfer(
        _ clientID: String, to recipient: String, at now: Int64
    ) throws(EmulatorError) -> AppTransfer {
        guard let index = apps.firstIndex(where: { $0.clientIDs.contains(clientID) }) else {
            throw EmulatorError(.clientIDUnknown)
        }
        let app = apps[index].primaryClientID
        let sender = apps[index].teamID
        guard sender != recipient else {
            throw EmulatorError(.memberMalformed, detail: "team_id: the team has the app already")
        }
        let transfer = AppTransfer(app: app, sender: sender, recipient: recipient, acceptedAt: now)
        try transfers.add(transfer)
        users.addTeam(recipient)
        apps[index].teamID = recipient
        grants.end { $0.app == app }
        return transfer
    }

    /// The teams whose client secrets count for a client ID: its owner, and for the migration of users also the former
    /// one, as long as the transfer is open.
    func teams(actingFor clientID: String, includingFormer: Bool, at now: Int64) -> [String] {
        guard let app = app(of: clientID) else { return [] }
        let former = includingFormer ? transfers.open(for: app.primaryClientID, at: now)?.sender : nil
        return [app.teamID] + (former.map { [$0] } ?? [])
    }

    /// The sender's half: what stands for one of its people on the way to another team.
    ///
    /// Apple gives identifiers out before the transfer as well, so that they can be taken along with the data.
    mutating func transferSubject(
        of subject: String, sender: String, recipient: String, clientID: String, now: Int64
    ) throws(OAuthRefusal) -> String {
        guard let app = app(of: clientID) else { throw OAuthRefusal(.invalidClient, "client_id is unknown") }
        let found = try? users.find(subject)
        guard let found, found.identity.teamID == sender, !users[found.position].isDeleted else {
            throw OAuthRefusal(.invalidRequest, "sub is nobody's in this team")
        }
        guard !transfers.failing.contains(found.position) else {
            throw OAuthRefusal(.invalidRequest, "this person cannot be migrated")
        }
        guard (1...64).contains(recipient.utf8.count), recipient != sender else {
            throw OAuthRefusal(.invalidRequest, "target is no other team")
        }
        if sender != app.teamID {
            let transfer = transfers.open(for: app.primaryClientID, at: now)
            guard transfer?.recipient == recipient else {
                throw OAuthRefusal(.invalidRequest, "target is not the team that took the app over")
            }
        }
        return transfers.subject(of: found.position, known: found.identity, to: recipient)
    }

    /// The recipient's half: who that is in its own team.
    func migratedUser(
        of transferSubject: String, recipient: String, clientID: String, now: Int64
    ) throws(OAuthRefusal) -> MigratedUser {
        guard let app = app(of: clientID),
            let transfer = transfers.open(for: app.primaryClientID, at: now), transfer.recipient == recipient
        else {
            throw OAuthRefusal(.invalidRequest, "no transfer of this app to this team is open")
        }
        guard let handover = transfers.handover(transferSubject), handover.recipient == recipient,
            handover.sender == transfer.sender, !users[handover.person].isDeleted
        else {
            throw OAuthRefusal(.invalidRequest, "transfer_sub is nobody's in this transfer")
        }
        guard !transfers.failing.contains(handover.person) else {
            throw OAuthRefusal(.invalidRequest, "this person cannot be migrated")
        }
        let user = users[handover.person]
        let identity = user.identity(for: recipient)
        let sharesEmail = !user.emailWithheldFrom.contains(app.primaryClientID)
        return MigratedUser(
            subject: identity.subject, email: sharesEmail ? user.shownEmail(to: identity) : nil,
            isPrivateEmail: user.hidesEmail)
    }

    /// The `transfer_sub` of tokens after a transfer, for as long as it is open.
    mutating func transferSubject(ofTokenFor person: Int, clientID: String, at now: Int64) -> String? {
        guard let app = app(of: clientID),
            let transfer = transfers.open(for: app.primaryClientID, at: now)
        else {
            return nil
        }
        let identity = users[person].identity(for: transfer.sender)
        return transfers.subject(of: person, known: identity, to: transfer.recipient)
    }
}

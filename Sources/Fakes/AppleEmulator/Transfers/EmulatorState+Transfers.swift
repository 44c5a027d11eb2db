public import EmulatorServer
import Synchronization

extension EmulatorState {
    func requireMigrationToken(_ token: String, teamID: String, clientID: String) throws(OAuthError) {
        try world.withLock { world throws(OAuthError) in
            let now = clock.now() + world.clockOffset
            let life = TokenEndpoint.accessTokenLifetime * 1000
            guard let held = world.grants.migrationTokens[token], held.teamID == teamID,
                held.clientID == clientID, now - held.issuedAt <= life
            else {
                throw OAuthError(
                    .invalidGrant, "the access token is unknown, expired or was issued to another client")
            }
        }
    }

    func transferSubject(
        of subject: String, sender: String, recipient: String, clientID: String
    ) throws(OAuthError) -> String {
        try world.withLock { world throws(OAuthError) in
            try world.transferSubject(
                of: subject, sender: sender, recipient: recipient, clientID: clientID,
                now: clock.now() + world.clockOffset)
        }
    }

    func migratedUser(
        of transferSubject: String, recipient: String, clientID: String
    ) throws(OAuthError) -> MigratedUser {
        try world.withLock { world throws(OAuthError) in
            try world.migratedUser(
                of: transferSubject, recipient: recipient, clientID: clientID,
                now: clock.now() + world.clockOffset)
        }
    }

    public var transfers: [AppTransfer] { world.withLock { $0.transfers.transfers } }

    /// Transfers the app of a client ID to another team, as if the team had just accepted it.
    ///
    /// Throws `.clientIDUnknown`, `.memberMalformed` and `.tooManyTransfers`.
    public func transfer(_ clientID: String, to teamID: String) throws(EmulatorError) -> AppTransfer {
        guard (1...64).contains(teamID.utf8.count), teamID.utf8.allSatisfy(ControlInput.isUnreserved) else {
            throw EmulatorError(.memberMalformed, detail: "team_id: 1 to 64 letters and digits")
        }
        return try world.withLock { world throws(EmulatorError) in
            try world.transfer(clientID, to: teamID, at: clock.now() + world.clockOffset)
        }
    }

    /// Makes `/auth/usermigrationinfo` refuse or accept this user. Other endpoints are not affected. Throws
    /// `.userNotFound`.
    public func setMigrationFailing(_ isFailing: Bool, of subject: String?) throws(EmulatorError) {
        try world.withLock { world throws(EmulatorError) in
            let position = try world.users.find(subject).position
            if isFailing {
                world.transfers.failing.insert(position)
            } else {
                world.transfers.failing.remove(position)
            }
        }
    }
}

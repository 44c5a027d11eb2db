public import EmulatorServer
import HTTPTypes
import Hummingbird
import StrictJSON
import Synchronization

/// App transfers, and users' transfer identifiers.
struct TransferRegistry: Codable {
    /// One user's transfer identifier for two teams.
    struct Handover: Equatable, Codable {
        let position: Int
        let sender: String
        let recipient: String
    }

    static let capacity = 64
    static let subjectCapacity = 100_000

    private(set) var transfers: [AppTransfer] = []
    private var handovers: [String: Handover] = [:]
    /// Users whose migration must fail, for tests of transfer tools.
    var failing: Set<Int> = []

    /// Adds a transfer. Throws `.tooManyTransfers`.
    mutating func add(_ transfer: AppTransfer) throws(EmulatorError) {
        guard transfers.count < Self.capacity else {
            throw EmulatorError(.tooManyTransfers, detail: "at most \(Self.capacity)")
        }
        transfers.append(transfer)
    }

    /// Returns the app's latest transfer if its users can still be migrated.
    func open(for app: String, at now: Int64) -> AppTransfer? {
        transfers.last { $0.app == app }.flatMap { $0.isOpen(at: now) ? $0 : nil }
    }

    func handover(_ transferSubject: String) -> Handover? { handovers[transferSubject] }

    /// Returns the user's transfer identifier, which is the same for every app transferred between these two
    /// teams.
    mutating func subject(of position: Int, known sender: TeamIdentity, to recipient: String) -> String {
        let subject = sender.transferSubject(to: recipient)
        if handovers.count < Self.subjectCapacity || handovers[subject] != nil {
            handovers[subject] = Handover(position: position, sender: sender.teamID, recipient: recipient)
        }
        return subject
    }
}

/// An app's transfer from one team to another.
public struct AppTransfer: Sendable, Equatable, Codable {
    /// Period during which users can be migrated: 60 days in milliseconds.
    public static let openFor: Int64 = 60 * 86_400_000

    /// The app's primary client ID.
    public let app: String
    public let sender: String
    public let recipient: String
    /// Time when the recipient accepted the transfer, in milliseconds since 1970.
    public let acceptedAt: Int64

    func isOpen(at now: Int64) -> Bool { now - acceptedAt <= Self.openFor }
}

/// App transfers, and `/auth/usermigrationinfo`.
extension EmulatedWorld {
    /// Transfers an app to the recipient. This ends the former team's tokens and codes; consents remain.
    ///
    /// Throws `.clientIDUnknown`, `.memberMalformed` if the team already has the app, and
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

    /// Returns the teams whose client secrets are accepted for a client ID: its owner and, for migrating
    /// users, its former owner while the transfer is open.
    func teams(actingFor clientID: String, includingFormer: Bool, at now: Int64) -> [String] {
        guard let app = app(of: clientID) else { return [] }
        let former = includingFormer ? transfers.open(for: app.primaryClientID, at: now)?.sender : nil
        return [app.teamID] + (former.map { [$0] } ?? [])
    }

    /// Returns the transfer identifier of one of the sender's users for another team.
    ///
    /// Apple issues these identifiers even before the transfer, so that the sender can pass them on with its
    /// data.
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

    /// Returns a user's identity for the recipient's team.
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

    /// Returns the `transfer_sub` for tokens while a transfer is open; `nil` at other times.
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

    /// Transfers a client ID's app to another team, as if that team had just accepted it.
    ///
    /// Throws `.clientIDUnknown`, `.tooManyTransfers`, or `.memberMalformed` for an invalid team ID.
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

/// Handles `POST /auth/usermigrationinfo` for both teams: the sender sends `sub` and `target`, the recipient
/// sends `transfer_sub`. Both need an access token from the `client_credentials` grant, as Apple documents.
struct MigrationEndpoint: Sendable {
    let state: EmulatorState

    func add(to router: Router<EmulatorRequestContext>) {
        let faults = FaultInjection(state: state, endpoint: .migration)
        router.post("auth/usermigrationinfo") { request, context in
            try await faults.respond(to: request, on: context.channel) { request, _ in
                await response(to: request)
            }
        }
    }

    private func response(to request: Request) async -> EndpointResponse {
        do throws(OAuthError) {
            let form = try await FormFields(bodyOf: request)
            let (clientID, teamID) = try state.authenticate(form, includingFormerTeam: true)
            try state.requireMigrationToken(bearer(of: request), teamID: teamID, clientID: clientID)
            if let transferSubject = form["transfer_sub"] {
                return .json(
                    try state.migratedUser(of: transferSubject, recipient: teamID, clientID: clientID).json)
            }
            let subject = try state.transferSubject(
                of: try form.require("sub"), sender: teamID, recipient: try form.require("target"),
                clientID: clientID)
            return .json(JSONObject([("transfer_sub", .string(subject))]))
        } catch {
            state.count(error, on: .migration)
            return .refusal(error)
        }
    }

    private func bearer(of request: Request) throws(OAuthError) -> String {
        let parts = (request.headers[.authorization] ?? "").split(separator: " ")
        guard parts.count == 2, parts[0].lowercased() == "bearer" else {
            throw OAuthError(.invalidRequest, "Authorization must be Bearer with an access token")
        }
        return String(parts[1])
    }
}

/// The `/auth/usermigrationinfo` response for the team that receives an app.
struct MigratedUser: Equatable {
    let subject: String
    let email: String?
    let isPrivateEmail: Bool

    var json: JSONObject {
        var json = JSONObject([("sub", .string(subject))])
        json["email"] = email.map { .string($0) }
        if email != nil, isPrivateEmail { json["is_private_email"] = .bool(true) }
        return json
    }
}

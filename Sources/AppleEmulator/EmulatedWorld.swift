import JOSE

/// Everything that the emulator remembers, and what calls do to it.
///
/// Pure but for randomness: no I/O, no clock, and no signing, which is slow and happens outside the lock.
struct EmulatedWorld {
    var apps: [EmulatedApp]
    var users: UserDirectory
    var keys: KeyRing
    var faults: [EmulatedEndpoint: EndpointFault] = [:]
    var counters = EmulatorCounters()
    var notificationTarget: NotificationTarget?
    /// The keys that teams sign their client secrets with.
    var clientKeys: ClientKeyRing
    var grants = GrantBook()
    var transfers = TransferBook()
    var outbox = Outbox()
    /// Pages of the web flow that nobody has answered yet, by the client ID that they are for.
    var openPages = TokenTable<String, AuthorizeRequest>(capacity: 1000)
    /// How far the control API moved the clock ahead, in milliseconds.
    var clockOffset: Int64 = 0

    init(
        apps: [EmulatedApp], keys: [SigningKey], clientKeys: [ClientKey],
        notificationTarget: NotificationTarget?
    ) throws(EmulatorError) {
        self.apps = apps
        self.keys = try KeyRing(keys)
        self.clientKeys = try ClientKeyRing(clientKeys)
        self.notificationTarget = notificationTarget
        var teamIDs: [String] = []
        for app in apps where !teamIDs.contains(app.teamID) { teamIDs.append(app.teamID) }
        users = UserDirectory(teamIDs: teamIDs)
    }

    func app(of clientID: String) -> EmulatedApp? {
        apps.first { $0.clientIDs.contains(where: clientID.isByteEqual(to:)) }
    }

    /// Who signs in where, with which keys. Remembers that the person uses the app, and the code that was given out.
    mutating func beginMinting(
        _ recipe: IdentityTokenRecipe, code: String?, authenticatedAt: Int64, now: Int64
    ) throws(EmulatorError) -> IdentityTokenBasis {
        let position = try users.find(recipe.subject).position
        let keys = try signingKeys(recipe.forgery)
        let clientID = recipe.clientID ?? apps[0].primaryClientID
        let app = app(of: clientID)
        // Only configured apps are remembered: made-up client IDs must not fill the memory.
        let isFirst = app.map { users[position].apps.insert($0.primaryClientID).inserted } ?? true
        counters.identityTokens += 1
        if let code {
            issueCode(
                code, to: position, clientID: clientID, nonce: recipe.nonce, redirectURI: recipe.redirectURI,
                authenticatedAt: authenticatedAt, now: now)
        }
        let user = users[position]
        return IdentityTokenBasis(
            user: user, identity: user.identity(for: app?.teamID ?? apps[0].teamID), clientID: clientID,
            isFirstAuthorization: isFirst,
            sharesEmail: app.map { !user.emailWithheldFrom.contains($0.primaryClientID) } ?? true,
            transferSubject: transferSubject(ofTokenFor: position, clientID: clientID, at: now), keys: keys)
    }

    mutating func beginMinting(_ recipe: NotificationRecipe) throws(EmulatorError) -> NotificationBasis {
        let (position, identity) = try users.find(recipe.subject)
        let keys = try signingKeys(recipe.forgery)
        let clientID = recipe.clientID ?? firstApp(of: identity.teamID).primaryClientID
        let app = app(of: clientID)
        let user = users[position]
        counters.notifications += 1
        return NotificationBasis(
            type: recipe.type ?? NotificationType.consentRevoked.rawValue, user: user,
            identity: user.identity(for: app?.teamID ?? identity.teamID), clientID: clientID,
            keys: keys)
    }

    /// Changes the user, and lists the notifications that Apple would send: one per app that is concerned.
    ///
    /// Apple tells every app that the person uses. One that stopped using the app is told on request only.
    mutating func change(
        _ subject: String?, _ change: AccountChange, clientID: String?
    ) throws(EmulatorError) -> (user: EmulatedUser, clientIDs: [String]) {
        let (position, found) = try users.find(subject)
        // The default user's name belongs to no team: it stands for whoever owns the first app by now.
        let isDefault = subject == nil || subject == UserDirectory.defaultName
        let identity = isDefault ? users[position].identity(for: apps[0].teamID) : found
        let used = apps.filter { app in
            users[position].apps.contains(app.primaryClientID)
                && (change == .deleteAccount || app.teamID == identity.teamID)
        }
        let told = used.isEmpty ? [firstApp(of: identity.teamID)] : used
        let clientIDs = clientID.map { [$0] } ?? told.map(\.primaryClientID)
        let concerned = change == .revokeConsent ? Array(clientIDs.prefix(1)) : clientIDs
        let app = app(of: concerned[0])?.primaryClientID ?? concerned[0]
        change.apply(to: &users[position], app: app)
        switch change {
        case .revokeConsent: endConsent(Consent(person: position, app: app))
        case .deleteAccount: grants.end { $0.person == position }
        case .disableForwarding, .enableForwarding: break
        }
        return (users[position], concerned)
    }

    /// Counts the request, and says what is to go wrong with it.
    mutating func beginRequest(on endpoint: EmulatedEndpoint) -> EndpointFault? {
        counters.requests[endpoint, default: 0] += 1
        guard let fault = faults[endpoint] else { return nil }
        counters.faults[endpoint, default: 0] += 1
        if let remaining = fault.remainingRequests {
            faults[endpoint]?.remainingRequests = remaining - 1
            if remaining <= 1 { faults[endpoint] = nil }
        }
        return fault
    }

    private func signingKeys(_ forgery: Forgery) throws(EmulatorError) -> SigningKeys {
        let key: SigningKey
        if let named = forgery.keyID.flatMap({ keys.key($0) }) {
            key = named
        } else {
            key = try keys.signingKey()
        }
        return SigningKeys(key: key, other: keys.publishedKey(otherThan: key))
    }

    private func firstApp(of teamID: String) -> EmulatedApp {
        apps.first { $0.teamID == teamID } ?? apps[0]
    }
}

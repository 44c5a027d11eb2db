import Encodings

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

    /// Whether tokens for the client ID come from the web flow, whoever mints them.
    func isForWebOnly(_ clientID: String) -> Bool {
        app(of: clientID).map { !$0.primaryClientID.isByteEqual(to: clientID) } ?? false
    }

    /// Who signs in where, with which keys. Nobody has signed in yet, so that the recipe can still be refused.
    mutating func basis(
        of recipe: IdentityTokenRecipe, now: Int64
    ) throws(EmulatorError) -> IdentityTokenBasis {
        let position = try users.find(recipe.subject).position
        let keys = try signingKeys(recipe.forgery)
        let clientID = recipe.clientID ?? apps[0].primaryClientID
        let app = app(of: clientID)
        let user = users[position]
        return IdentityTokenBasis(
            user: user, identity: user.identity(for: app?.teamID ?? apps[0].teamID), clientID: clientID,
            isFirstAuthorization: isFirstAuthorization(of: position, clientID: clientID),
            sharesEmail: app.map { !user.emailWithheldFrom.contains($0.primaryClientID) } ?? true,
            isFromWeb: recipe.redirectURI != nil || isForWebOnly(clientID),
            transferSubject: transferSubject(ofTokenFor: position, clientID: clientID, at: now), keys: keys)
    }

    /// Remembers that the person uses the app, and the code that was given out.
    mutating func note(
        _ recipe: IdentityTokenRecipe, from basis: IdentityTokenBasis, code: String?, authenticatedAt: Int64,
        now: Int64
    ) throws(EmulatorError) {
        let position = try users.find(recipe.subject).position
        // Only configured apps are remembered: made-up client IDs must not fill the memory.
        if let app = app(of: basis.clientID) { users[position].apps.insert(app.primaryClientID) }
        counters.identityTokens += 1
        if let code {
            issueCode(
                code, to: position, clientID: basis.clientID, nonce: recipe.nonce,
                redirectURI: recipe.redirectURI, authenticatedAt: authenticatedAt, now: now)
        }
    }

    /// Whom a notification is about, and which keys sign it.
    func basis(of recipe: NotificationRecipe) throws(EmulatorError) -> NotificationBasis {
        let (position, identity) = try users.find(recipe.subject)
        let keys = try signingKeys(recipe.forgery)
        let clientID = recipe.clientID ?? firstApp(of: identity.teamID).primaryClientID
        let app = app(of: clientID)
        let user = users[position]
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
        let named = forgery.keyID.flatMap { keys.key($0) }
        let key: SigningKey
        if let named {
            key = named
        } else {
            key = try keys.signingKey()
        }
        return SigningKeys(key: key, other: keys.publishedKey(otherThan: key), isNamed: named != nil)
    }

    private func firstApp(of teamID: String) -> EmulatedApp {
        apps.first { $0.teamID == teamID } ?? apps[0]
    }
}

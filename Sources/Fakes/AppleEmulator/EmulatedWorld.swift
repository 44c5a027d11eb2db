import EmulatorServer
import Encodings

/// The emulator's whole state, and the operations that change it.
///
/// Uses random numbers, but does no I/O and reads no clock. It does not sign, because signing is slow and
/// must happen outside the lock.
struct EmulatedWorld {
    var apps: [EmulatedApp]
    var users: UserDirectory
    var keys: KeyRing
    var faults: [EmulatedEndpoint: EndpointFault] = [:]
    var counters = EmulatorCounters()
    var notificationTarget: NotificationTarget?
    /// The keys that teams sign their client secrets with.
    var clientKeys: ClientKeyRing
    var grants = GrantRegistry()
    var transfers = TransferRegistry()
    var outbox = Outbox()
    var exchanges = ExchangeLog()
    var deviceKeys = DeviceKeyRegistry()
    /// Open pages of the web flow. Each entry belongs to its client ID.
    var openPages = TokenTable<String, AuthorizationRequest>(capacity: 1000)
    /// Number of milliseconds by which the control API has advanced the clock.
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

    /// Returns true if tokens for the client ID always come from the web flow.
    func isForWebOnly(_ clientID: String) -> Bool {
        app(of: clientID).map { !$0.primaryClientID.isByteEqual(to: clientID) } ?? false
    }

    /// Collects the data for a token: user, app and keys. Does not record the code or the use of the app, so
    /// that the recipe can still be refused.
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
            isFirstAuthorization: isFirstAuthorization(of: users[position], clientID: clientID),
            sharesEmail: app.map { !user.emailWithheldFrom.contains($0.primaryClientID) } ?? true,
            isFromWeb: recipe.redirectURI != nil || isForWebOnly(clientID),
            transferSubject: transferSubject(ofTokenFor: position, clientID: clientID, at: now), keys: keys)
    }

    /// Records that the user uses the app, and stores the issued code.
    mutating func note(
        _ recipe: IdentityTokenRecipe, from basis: IdentityTokenBasis, code: String?, authenticatedAt: Int64,
        now: Int64
    ) throws(EmulatorError) {
        let position = try users.find(recipe.subject).position
        // Only configured apps are stored, so that invented client IDs cannot fill the memory.
        if let app = app(of: basis.clientID) { users[position].apps.insert(app.primaryClientID) }
        counters.identityTokens += 1
        if let code {
            issueCode(
                code, to: position, clientID: basis.clientID, nonce: recipe.nonce,
                redirectURI: recipe.redirectURI, authenticatedAt: authenticatedAt, now: now)
        }
    }

    /// Collects the data for a notification: user, app and keys.
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

    /// Changes the user, and returns the client IDs that Apple would notify, one for each affected app.
    ///
    /// Apple notifies every app that the user uses. An app that the user no longer uses is notified only on
    /// request.
    mutating func change(
        _ subject: String?, _ change: AccountChange, clientID: String?
    ) throws(EmulatorError) -> (user: EmulatedUser, clientIDs: [String]) {
        let (position, found) = try users.find(subject)
        // The name `default` belongs to no team, so it selects the identity for the team that currently owns
        // the first app.
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
        case .revokeConsent: endConsent(Consent(position: position, app: app))
        case .deleteAccount: grants.end { $0.position == position }
        case .disableForwarding, .enableForwarding: break
        }
        return (users[position], concerned)
    }

    /// Counts the request, and returns the fault that applies to it.
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

/// The configured state, which a reset restores.
struct EmulatorStart {
    private(set) var apps: [EmulatedApp]
    private(set) var clientKeys: [ClientKey]
    var notificationTarget: NotificationTarget?

    init(apps: [EmulatedApp], clientKeys: [ClientKey], notificationTarget: NotificationTarget?) {
        (self.apps, self.clientKeys, self.notificationTarget) = (apps, clientKeys, notificationTarget)
    }

    mutating func setRedirectURIs(_ uris: [String], of clientID: String) {
        for index in apps.indices where apps[index].clientIDs.contains(clientID) {
            apps[index].redirectURIs = uris
        }
    }

    /// Adds a key. Does nothing if the key is already present.
    mutating func addClientKey(_ key: ClientKey) {
        guard !clientKeys.contains(where: { $0.keyID == key.keyID && $0.teamID == key.teamID }) else {
            return
        }
        clientKeys.append(key)
    }

    /// Returns a world with the configured state. Throws `.keyExists` and `.tooManyKeys`.
    func world(keys: [SigningKey]) throws(EmulatorError) -> EmulatedWorld {
        try EmulatedWorld(
            apps: apps, keys: keys, clientKeys: clientKeys, notificationTarget: notificationTarget)
    }
}

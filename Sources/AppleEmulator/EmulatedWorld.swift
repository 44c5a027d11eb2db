import JOSE

/// Everything that the emulator remembers, and what calls do to it.
///
/// Pure but for randomness: no I/O, no clock, and no signing, which is slow and happens outside the lock.
struct EmulatedWorld {
    let apps: [EmulatedApp]
    var users: UserDirectory
    var keys: KeyRing
    var faults: [EmulatedEndpoint: EndpointFault] = [:]
    var counters = EmulatorCounters()
    var notificationTarget: NotificationTarget?

    init(
        apps: [EmulatedApp], keys: [SigningKey], notificationTarget: NotificationTarget?
    ) throws(EmulatorError) {
        self.apps = apps
        self.keys = try KeyRing(keys)
        self.notificationTarget = notificationTarget
        var teamIDs: [String] = []
        for app in apps where !teamIDs.contains(app.teamID) { teamIDs.append(app.teamID) }
        users = UserDirectory(teamIDs: teamIDs)
    }

    /// Who signs in where, with which keys. Remembers that the person uses the app.
    mutating func beginMinting(_ recipe: IdentityTokenRecipe) throws(EmulatorError) -> IdentityTokenBasis {
        let position = try users.find(recipe.subject).position
        let keys = try signingKeys(recipe.forgery)
        let clientID = recipe.clientID ?? apps[0].primaryClientID
        let app = apps.first { $0.clientIDs.contains(clientID) }
        let user = users[position]
        // Only configured apps are remembered: made-up client IDs must not fill the memory.
        let isFirst = app.map { users[position].apps.insert($0.primaryClientID).inserted } ?? true
        counters.identityTokens += 1
        return IdentityTokenBasis(
            user: user, identity: user.identity(for: app?.teamID ?? apps[0].teamID), clientID: clientID,
            isFirstAuthorization: isFirst, keys: keys)
    }

    mutating func beginMinting(_ recipe: NotificationRecipe) throws(EmulatorError) -> NotificationBasis {
        let (position, identity) = try users.find(recipe.subject)
        let keys = try signingKeys(recipe.forgery)
        let clientID = recipe.clientID ?? firstApp(of: identity.teamID).primaryClientID
        let app = apps.first { $0.clientIDs.contains(clientID) }
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
        let (position, identity) = try users.find(subject)
        let used = apps.filter { app in
            users[position].apps.contains(app.primaryClientID)
                && (change == .deleteAccount || app.teamID == identity.teamID)
        }
        let told = used.isEmpty ? [firstApp(of: identity.teamID)] : used
        let clientIDs = clientID.map { [$0] } ?? told.map(\.primaryClientID)
        let concerned = change == .revokeConsent ? Array(clientIDs.prefix(1)) : clientIDs
        let app = apps.first { $0.clientIDs.contains(concerned[0]) }?.primaryClientID ?? concerned[0]
        change.apply(to: &users[position], app: app)
        return (users[position], concerned)
    }

    mutating func answerKeySetRequest(
        ifNoneMatch: String?, cacheControl: String?, sendsEntityTag: Bool
    ) -> KeySetReply {
        let fault = useFault(on: .keys)
        let reply = KeySetReply(
            to: KeySetDocument(keys: keys.published), ifNoneMatch: ifNoneMatch, cacheControl: cacheControl,
            sendsEntityTag: sendsEntityTag, fault: fault)
        counters.keySetRequests += 1
        if fault != nil { counters.keySetFaults += 1 }
        if reply.status == 304 { counters.keySetNotModified += 1 }
        return reply
    }

    private mutating func useFault(on endpoint: EmulatedEndpoint) -> EndpointFault? {
        guard let fault = faults[endpoint] else { return nil }
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

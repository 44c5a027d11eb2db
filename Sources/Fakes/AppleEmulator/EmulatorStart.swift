import EmulatorServer

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

    /// Adds a key. Does nothing when the key is present.
    mutating func addClientKey(_ key: ClientKey) {
        guard !clientKeys.contains(where: { $0.keyID == key.keyID && $0.teamID == key.teamID }) else {
            return
        }
        clientKeys.append(key)
    }

    /// Throws `.keyExists` and `.tooManyKeys`.
    func world(keys: [SigningKey]) throws(EmulatorError) -> EmulatedWorld {
        try EmulatedWorld(
            apps: apps, keys: keys, clientKeys: clientKeys, notificationTarget: notificationTarget)
    }
}

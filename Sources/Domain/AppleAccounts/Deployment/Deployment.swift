/// All apps that one service serves, of one team or several. It does not change while the service runs.
public struct Deployment: Sendable {
    public let apps: [App]
    private let appIndexByClientID: [ClientID: Int]

    /// - Throws: `DeploymentError` when there is no app, or a client ID belongs to two apps.
    public init(apps: [App]) throws(DeploymentError) {
        guard !apps.isEmpty else { throw DeploymentError(.noApps, detail: "") }
        var index: [ClientID: Int] = [:]
        for (position, app) in apps.enumerated() {
            for clientID in app.clientIDs {
                // A token for a shared client ID would not identify the app whose credential it is about.
                guard index.updateValue(position, forKey: clientID) == nil else {
                    throw DeploymentError(.clientIDInTwoApps, detail: clientID.rawValue)
                }
            }
        }
        self.apps = apps
        appIndexByClientID = index
    }

    /// Returns the app that a client ID, primary or not, belongs to.
    public func app(for clientID: ClientID) -> App? {
        appIndexByClientID[clientID].map { apps[$0] }
    }

    /// Every client ID of every app, in the order of the configuration.
    public var clientIDs: [ClientID] { apps.flatMap(\.clientIDs) }
}

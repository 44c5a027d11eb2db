public import Encodings

/// The apps that a service serves, from one or more teams. The list does not change at run time.
public struct Deployment: Sendable {
    public let apps: [App]
    private let appIndexByClientID: [ClientID: Int]

    /// - Throws: `DeploymentError` if there is no app, or a client ID belongs to two apps.
    public init(apps: [App]) throws(DeploymentError) {
        guard !apps.isEmpty else { throw DeploymentError(.noApps, detail: "") }
        var index: [ClientID: Int] = [:]
        for (position, app) in apps.enumerated() {
            for clientID in app.clientIDs {
                // If two apps shared a client ID, a token would not identify the credential's app.
                guard index.updateValue(position, forKey: clientID) == nil else {
                    throw DeploymentError(.clientIDInTwoApps, detail: clientID.rawValue)
                }
            }
        }
        self.apps = apps
        appIndexByClientID = index
    }

    /// Returns the app that a client ID, primary or not, belongs to; `nil` if there is none.
    public func app(for clientID: ClientID) -> App? {
        appIndexByClientID[clientID].map { apps[$0] }
    }

    /// All client IDs of all apps, in configuration order.
    public var clientIDs: [ClientID] { apps.flatMap(\.clientIDs) }
}

/// The reason why the service cannot serve a list of apps.
public struct DeploymentError: CodedError {
    public enum Code: String, Sendable, CaseIterable {
        case noApps, clientIDInTwoApps
    }

    public let code: Code
    /// The client ID at fault. It comes from the service's own configuration, so a message may show it.
    public let detail: String

    public init(_ code: Code, detail: String) { (self.code, self.detail) = (code, detail) }
}

extension DeploymentError {
    public var description: String {
        switch code {
        case .noApps: "no app is configured"
        case .clientIDInTwoApps: "client ID \(detail) belongs to two apps"
        }
    }
}

/// A team's primary App ID, with all client IDs that are grouped under it.
///
/// Consent applies to the app with all its client IDs, and not only to the client ID that the user used.
public struct App: Sendable, Hashable {
    public let team: TeamID
    /// The app's name in storage. Credentials are stored under
    /// this ID, so it must not change once it has been used.
    public let primaryClientID: ClientID
    /// All of the app's client IDs, without duplicates and with the primary client ID first.
    public let clientIDs: [ClientID]
    /// The client IDs that the configuration lists as Services IDs, for websites.
    public let servicesIDs: Set<ClientID>
    /// True if native app sign-ins need a nonce minted by the service.
    public let requiresMintedNonce: Bool

    public init(
        team: TeamID, primaryClientID: ClientID, otherClientIDs: [ClientID] = [],
        servicesIDs: Set<ClientID> = [], requiresMintedNonce: Bool = false
    ) {
        self.team = team
        self.primaryClientID = primaryClientID
        var known: Set = [primaryClientID]
        clientIDs = [primaryClientID] + otherClientIDs.filter { known.insert($0).inserted }
        self.servicesIDs = servicesIDs
        self.requiresMintedNonce = requiresMintedNonce
    }

    /// The bundle IDs of apps, and any Services ID that the configuration does not list as a Services ID.
    public var bundleIDs: [ClientID] { clientIDs.filter { !servicesIDs.contains($0) } }
}

/// The apps that a caller may access.
///
/// An account belongs to all apps for which it has a credential, or had one at its erasure. A caller who may
/// access at least one of these apps may see the account, with the credentials and tokens for the caller's
/// apps only; for all other callers, the account does not exist.
public enum AppScope: Sendable, Hashable {
    case all
    /// Some apps, by their primary client IDs.
    case only(Set<ClientID>)

    public func allows(_ app: App) -> Bool { allows(app.primaryClientID) }

    public func allows(_ primaryClientID: ClientID) -> Bool {
        switch self {
        case .all: true
        case .only(let clientIDs): clientIDs.contains(primaryClientID)
        }
    }

    /// Returns true if the caller may see an object that belongs to these apps, named by their primary client
    /// IDs. Only unlimited callers may see an object that belongs to no app.
    public func allowsAny(of primaryClientIDs: some Sequence<ClientID>) -> Bool {
        self == .all || primaryClientIDs.contains { allows($0) }
    }

    /// Returns true if the caller may access every one of these apps, named by their primary client IDs.
    func allowsAll(_ primaryClientIDs: some Sequence<ClientID>) -> Bool {
        primaryClientIDs.allSatisfy { allows($0) }
    }
}

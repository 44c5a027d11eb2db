public import Encodings

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
                // A token for a shared client ID would not identify the app of its credential.
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

/// Refusal of a list of apps that cannot be served.
public struct DeploymentError: CodedError {
    public enum Code: String, Sendable, CaseIterable {
        case noApps, clientIDInTwoApps
    }

    public let code: Code
    /// The client ID at fault. It comes from our own configuration and may be shown.
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

/// A primary App ID of a team, with all the client IDs that are grouped under it.
///
/// Consent applies to the app, with all of its client IDs, and not only to the client ID that the user used.
public struct App: Sendable, Hashable {
    public let team: TeamID
    /// The app's name in storage: its credentials are stored under this
    /// ID, so it must not change after its first use.
    public let primaryClientID: ClientID
    /// Every client ID of the app, the primary client ID first, without duplicates.
    public let clientIDs: [ClientID]
    /// The client IDs that the configuration names as Services IDs, for websites.
    public let servicesIDs: Set<ClientID>
    /// True if sign-ins of native apps need a nonce that this service minted.
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

    /// The client IDs of programs on devices. They include a Services ID that the
    /// configuration does not name as a Services ID.
    public var bundleIDs: [ClientID] { clientIDs.filter { !servicesIDs.contains($0) } }
}

/// Apps that a caller may access.
///
/// An account belongs to all apps that it has a credential for, or had at its erasure. A caller who may
/// access at least one of these apps may see the account, with the credentials and tokens of the caller's
/// apps; for all other callers the account does not exist.
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
    /// IDs. Only callers without a limit may see an object that belongs to no app.
    public func allowsAny(of primaryClientIDs: some Sequence<ClientID>) -> Bool {
        self == .all || primaryClientIDs.contains { allows($0) }
    }

    /// Returns true if the caller may access each of these apps, by their primary client IDs.
    func allowsAll(_ primaryClientIDs: some Sequence<ClientID>) -> Bool {
        primaryClientIDs.allSatisfy { allows($0) }
    }
}

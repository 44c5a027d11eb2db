public import AppAttestation
public import AppleAccounts

/// The App Check modes of an app's clients: its Apple client IDs, and the OAuth clients that serve its users.
/// It also shows which clients sign users in without a proof.
public struct AppCheckCoverage: Sendable {
    /// An Apple client ID or an OAuth client.
    public struct Client: Sendable, Hashable {
        public let kind: Kind
        public let id: String
        /// The mode that the service enforces.
        public let mode: AppCheckMode
        /// The mode that the configuration sets for the client itself.
        public let declaredMode: AppCheckMode
        public let basis: Basis
    }

    public enum Kind: String, Sendable, CaseIterable {
        case clientID = "client_id"
        case oauthClient = "oauth_client"
    }

    /// The reason for the effective mode.
    public enum Basis: String, Sendable, CaseIterable {
        /// The configuration sets the mode for the client itself.
        case own
        /// The OAuth client's bundle ID has a stricter mode, which applies.
        case bundleID = "bundle_id"
        /// The bundle ID has no mode, so the app's strictest mode applies.
        case app
        /// The client uses App Flip, which gets the app's strictest mode. Android intents, which carry no
        /// proof, and Google's own requests, which come from Google's servers, are exempt.
        case appFlip = "app_flip"
        /// Users sign in on Apple's page, where an app cannot prove itself.
        case browser
    }

    /// The client IDs in configuration order, followed by the OAuth clients.
    public let clients: [Client]

    public init(of app: App, _ policies: AppCheckPolicies, oauthClients: [OAuthClient]) {
        let strictest = policies.strictest(of: app.clientIDs.map(\.rawValue))
        let clientIDs = app.clientIDs.map { id in
            guard let policy = policies.ofApp(id.rawValue) else {
                return Client(
                    kind: .clientID, id: id.rawValue, mode: .off, declaredMode: .off,
                    basis: strictest == nil && !app.servicesIDs.contains(id) ? .own : .browser)
            }
            return Client(kind: .clientID, id: id.rawValue, policy, raisedBy: .app)
        }
        let others = oauthClients.filter { $0.app == app.primaryClientID }.map { client in
            let id = client.id.rawValue
            if client.hasAppFlip {
                return Client(
                    kind: .oauthClient, id: id, mode: strictest?.mode ?? .off, declaredMode: .off,
                    basis: .appFlip)
            }
            guard let policy = policies.ofOAuthClient(id) else {
                return Client(
                    kind: .oauthClient, id: id, mode: .off, declaredMode: .off,
                    basis: client.nativeSignInBundleID == nil ? .browser : .own)
            }
            return Client(kind: .oauthClient, id: id, policy, raisedBy: .bundleID)
        }
        clients = clientIDs + others
    }

    /// True if App Check applies to at least one client.
    public var judges: Bool { clients.contains { $0.mode != .off } }
}

extension AppCheckCoverage.Client {
    /// The effective mode and its reason, for operators.
    public var explanation: String {
        switch basis {
        case .own: mode.rawValue
        case .bundleID:
            "\(mode.rawValue), like its bundle ID; the client itself has app_check: \(declaredMode.rawValue)"
        case .app: "\(mode.rawValue), like the strictest bundle ID of its app; it has no app_check of its own"
        case .appFlip:
            mode == .off
                ? "off" : "App Flip is \(mode.rawValue), except for intents of Android, which carry no proof"
        case .browser: "not judged: users sign in on Apple's page, which no app can prove"
        }
    }

    fileprivate init(
        kind: AppCheckCoverage.Kind, id: String, _ policy: AppCheckPolicy,
        raisedBy basis: AppCheckCoverage.Basis
    ) {
        self.init(
            kind: kind, id: id, mode: policy.mode, declaredMode: policy.declaredMode,
            basis: policy.mode == policy.declaredMode ? .own : basis)
    }
}

import AppAttestation
import AppleAccounts
package import AppleIDClient
import AsyncHTTPClient
import Encodings
import HTTPAPI
import SignIn

extension ServiceSettings {
    /// Callers of the service. Without API keys, a service in development accepts all callers; in production
    /// the settings reader refuses such a configuration.
    var callers: CallerDirectory {
        apiKeys.isEmpty && environment == .development
            ? .open : CallerDirectory(keys: apiKeys, metricsKey: metricsKey)
    }
}

extension ServiceSettings {
    /// The check of `Host` and `Origin` in development, where a web page in the developer's browser can reach
    /// the service. `nil` in production: there the proxy checks `Host`, and callers have API keys.
    var foreignPages: ForeignPageCheck? {
        environment == .development ? ForeignPageCheck(hosts: developmentHosts) : nil
    }

    /// The host names of the service in development.
    var developmentHosts: AllowedHosts {
        let publicHost = publicURL.flatMap { WebAddress($0)?.host }
        return AllowedHosts(allowedHosts + [host] + (publicHost.map { [$0] } ?? []))
    }

    /// The host names of the console on its own port. Another name in `Host` belongs to a page of another
    /// site, which resolves its name to this address.
    var consoleHosts: AllowedHosts { AllowedHosts(consoleAllowedHosts + [consoleHost]) }
}

extension ServiceSettings {
    /// The client for calls to Apple, with the signing keys of each team.
    func tokenClient(over client: HTTPClient, clock: AppleClock? = nil) -> AppleTokenClient {
        let teams = deployment.apps.flatMap { app in app.clientIDs.map { ($0.rawValue, app.team.rawValue) } }
        let locations = signingKeys.map { ($0.key.rawValue, $0.value) }
        return AppleTokenClient(
            client: client, endpoints: appleEndpoints,
            secrets: SignedClientSecrets(
                teams: Dictionary(uniqueKeysWithValues: teams),
                keys: SigningKeyFiles(Dictionary(uniqueKeysWithValues: locations)),
                secondsSince1970: { ProcessObservation.millisecondsSince1970() / 1000 }),
            clock: clock)
    }

    /// Passes the client for calls to Apple to `body`, for a command. Shuts the HTTP client down afterwards.
    package func withAppleClient<Result>(_ body: (AppleTokenClient) async throws -> Result) async throws
        -> Result
    {
        try await HTTPClient.withHTTPClient(configuration: .apple()) { try await body(tokenClient(over: $0)) }
    }
}

extension ServiceSettings {
    /// Roots of App Attest. The roots of the fake Apple are only for development with the fake Apple, because
    /// their private keys are public.
    var appAttestRoots: AppAttestRoots { (isWithFakeApple ? fakeRoots : nil) ?? .apple }

    /// True in development with `APPLE_BASE_URL`.
    package var isWithFakeApple: Bool { environment == .development && appleEndpoints != .apple }
}

extension ServiceSettings {
    /// Keeps receipts; `nil` if they are not exchanged.
    var exchangedReceipts: AppReceipts? {
        switch receipts {
        case .off: nil
        case .on: sealingKeys.map { AppReceipts(root: appAttestRoots.receipt, sealingKeys: $0) }
        }
    }

    /// The client that exchanges receipts, with the signing keys of each team.
    func receiptClient(over client: HTTPClient, clock: AppleClock?) -> AppleReceiptClient {
        let locations = signingKeys.map { ($0.key.rawValue, $0.value) }
        return AppleReceiptClient(
            client: client, endpoints: appleEndpoints,
            keys: SigningKeyFiles(Dictionary(uniqueKeysWithValues: locations)), clock: clock,
            secondsSince1970: { ProcessObservation.millisecondsSince1970() / 1000 })
    }
}

extension ServiceSettings {
    /// Sign-in in a browser; `nil` if it is not configured.
    ///
    /// - Throws: `WebSettingsError`.
    func webSignIn(
        useCases: SignInUseCases, tickets: any TicketStore, now: @escaping @Sendable () -> Moment
    ) throws -> WebSignIn? {
        // The settings reader requires both when a redirect URL is configured.
        guard let publicURL, let sealingKeys, !webClients.isEmpty else { return nil }
        let settings = try WebSignIn.Settings(
            publicURL: publicURL, redirectURLs: webClients, authorizeURL: appleEndpoints.authorize,
            allowsPlainHTTP: environment == .development)
        return WebSignIn(
            settings: settings, useCases: useCases, sealingKeys: sealingKeys, tickets: tickets, now: now)
    }

    /// The redirect URL of each client ID that can be used in a browser.
    ///
    /// Apple's web page accepts only Services IDs, and the primary client ID is the app's bundle ID. Omits
    /// the primary client ID if the app has another client ID with a redirect URL, so that links need not
    /// name the client ID if only one client ID remains.
    var webClients: [ClientID: String] {
        webRedirectURLs.filter { clientID, _ in
            guard let app = deployment.app(for: clientID) else { return false }
            let others = app.clientIDs.filter { $0 != app.primaryClientID }
            return clientID != app.primaryClientID || !others.contains { webRedirectURLs[$0] != nil }
        }
    }
}

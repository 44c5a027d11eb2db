import AppAttestation
import AppleAccounts
package import AppleIDClient
import AsyncHTTPClient
import Encodings
import HTTPAPI
import SignIn

extension ServiceSettings {
    /// The service's callers. In development, a service without API keys accepts all callers. In production,
    /// the settings reader refuses such a configuration.
    var callers: CallerDirectory {
        apiKeys.isEmpty && environment == .development
            ? .open : CallerDirectory(keys: apiKeys, metricsKey: metricsKey)
    }
}

extension ServiceSettings {
    /// The `Host` and `Origin` check in development, where web pages in the developer's browser can reach the
    /// service. `nil` in production, where the proxy checks `Host` and callers have API keys.
    var foreignPages: ForeignPageCheck? {
        environment == .development ? ForeignPageCheck(hosts: developmentHosts) : nil
    }

    /// The host names that the service accepts in development.
    var developmentHosts: AllowedHosts {
        let publicHost = publicURL.flatMap { WebAddress($0)?.host }
        return AllowedHosts(allowedHosts + [host] + (publicHost.map { [$0] } ?? []))
    }

    /// The host names that the console accepts on its own port. A request with any other name in `Host` comes
    /// from a page on another site, which has made its own name resolve to this address (DNS rebinding).
    var consoleHosts: AllowedHosts { AllowedHosts(consoleAllowedHosts + [consoleHost]) }
}

extension ServiceSettings {
    /// Returns the client for calls to Apple, with each team's signing keys.
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

    /// Calls `body` with a client for calls to Apple, and then shuts down the HTTP client. Commands use it.
    package func withAppleClient<Result>(_ body: (AppleTokenClient) async throws -> Result) async throws
        -> Result
    {
        try await HTTPClient.withHTTPClient(configuration: .apple()) { try await body(tokenClient(over: $0)) }
    }
}

extension ServiceSettings {
    /// The App Attest root certificates. The service accepts the fake Apple's roots only in development with
    /// the fake Apple, because their private keys are public.
    var appAttestRoots: AppAttestRoots { (isWithFakeApple ? fakeRoots : nil) ?? .apple }

    /// True in development if `APPLE_BASE_URL` is set.
    package var isWithFakeApple: Bool { environment == .development && appleEndpoints != .apple }
}

extension ServiceSettings {
    /// Stores receipts; `nil` if the service does not exchange receipts.
    var exchangedReceipts: AppReceipts? {
        switch receipts {
        case .off: nil
        case .on: sealingKeys.map { AppReceipts(root: appAttestRoots.receipt, sealingKeys: $0) }
        }
    }

    /// Returns the client that exchanges receipts, with each team's signing keys.
    func receiptClient(over client: HTTPClient, clock: AppleClock?) -> AppleReceiptClient {
        let locations = signingKeys.map { ($0.key.rawValue, $0.value) }
        return AppleReceiptClient(
            client: client, endpoints: appleEndpoints,
            keys: SigningKeyFiles(Dictionary(uniqueKeysWithValues: locations)), clock: clock,
            secondsSince1970: { ProcessObservation.millisecondsSince1970() / 1000 })
    }
}

extension ServiceSettings {
    /// Returns the browser sign-in; `nil` if it is not configured.
    ///
    /// - Throws: `WebSettingsError` if a URL is unusable.
    func webSignIn(
        useCases: SignInUseCases, tickets: any TicketStore, now: @escaping @Sendable () -> Moment
    ) throws -> WebSignIn? {
        // If a redirect URL is configured, the settings reader requires both values.
        guard let publicURL, let sealingKeys, !webClients.isEmpty else { return nil }
        let settings = try WebSignIn.Settings(
            publicURL: publicURL, redirectURLs: webClients, authorizeURL: appleEndpoints.authorize,
            allowsPlainHTTP: environment == .development)
        return WebSignIn(
            settings: settings, useCases: useCases, sealingKeys: sealingKeys, tickets: tickets, now: now)
    }

    /// The redirect URLs of all browser client IDs.
    ///
    /// Apple's web page accepts only Services IDs, and the primary client ID is the app's bundle ID. So the
    /// primary client ID is omitted if the app has another client ID with a redirect URL. If only one client
    /// ID remains, links need not name it.
    var webClients: [ClientID: String] {
        webRedirectURLs.filter { clientID, _ in
            guard let app = deployment.app(for: clientID) else { return false }
            let others = app.clientIDs.filter { $0 != app.primaryClientID }
            return clientID != app.primaryClientID || !others.contains { webRedirectURLs[$0] != nil }
        }
    }
}

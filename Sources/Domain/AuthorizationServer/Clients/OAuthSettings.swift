public import AppleAccounts

/// The `oauth` section of the configuration after all checks. It does not change while the service runs.
public struct OAuthSettings: Sendable {
    public let issuer: Issuer
    /// Time after a sign-in at Apple during which the browser needs no new sign-in, in seconds.
    public let sessionLifetime: Int64
    public let scopes: ScopeCatalog
    public let clients: ClientRegistry
    /// True if the `create` intent of Google's streamlined linking may create an account without an Apple
    /// identity.
    public let allowsAccountsWithoutApple: Bool
    /// Time after the first exchange of a refresh token during which a client may exchange it again, in
    /// seconds. Clients can override it.
    public let refreshRetryWindow: Int64
    /// Maximum number of refresh tokens per account, over all native clients. Above the limit, the oldest
    /// token ends.
    public let nativeRefreshTokenLimit: Int
    /// True in development, where token endpoint responses include the reason for a refusal.
    public let explainsRefusals: Bool
    public let languages: PageLanguages
    /// App names for users, by primary client ID. Not every app has a name.
    private let appNames: [ClientID: LocalizedText]

    init(
        issuer: Issuer, sessionLifetime: Int64, scopes: ScopeCatalog, clients: ClientRegistry,
        allowsAccountsWithoutApple: Bool, refreshRetryWindow: Int64, nativeRefreshTokenLimit: Int,
        explainsRefusals: Bool,
        languages: PageLanguages = .builtIn, appNames: [ClientID: LocalizedText] = [:]
    ) {
        self.languages = languages
        self.issuer = issuer
        self.sessionLifetime = sessionLifetime
        self.scopes = scopes
        self.clients = clients
        self.allowsAccountsWithoutApple = allowsAccountsWithoutApple
        self.refreshRetryWindow = refreshRetryWindow
        self.nativeRefreshTokenLimit = nativeRefreshTokenLimit
        self.explainsRefusals = explainsRefusals
        self.appNames = appNames
    }

    /// Returns the app name that the pages show. It defaults to the host of the issuer, which users see in
    /// the address bar.
    ///
    /// - Parameter app: The app's primary client ID.
    public func appName(of app: ClientID) -> LocalizedText {
        appNames[app] ?? LocalizedText(english: issuer.host)
    }

    /// The result of the checks.
    public enum Checked: Sendable {
        /// The configuration declares no clients, so the service has no authorization server.
        case none
        case usable(OAuthSettings)
        /// All mistakes, so that an operator can fix them together. Never empty.
        case refused([OAuthMistake])
    }

    public static func check(_ draft: OAuthDraft, in context: OAuthContext) -> Checked {
        var check = OAuthCheck(context)
        let issuer = draft.clients.isEmpty ? nil : check.issuer(draft)
        let scopes = check.catalog(of: draft.scopes)
        // Without an issuer there is no default audience, so client checks use a placeholder, which is never
        // issued.
        let clients = draft.clients.compactMap { client in
            OAuthClient(
                client, in: &check, scopes: scopes, defaultAudience: issuer?.text ?? "https://unknown.invalid"
            )
        }
        check.checkUniqueness(of: draft.clients)
        let sessionLifetime = check.number(OAuthDraft.sessionLifetime, in: draft)
        let refreshRetryWindow = check.number(OAuthDraft.refreshRetryWindow, in: draft)
        let nativeLimit = check.number(OAuthDraft.nativeRefreshTokenLimit, in: draft)
        let appNames = check.appNames(draft)
        guard check.mistakes.isEmpty else { return .refused(check.mistakes) }
        guard let issuer else { return .none }
        return .usable(
            OAuthSettings(
                issuer: issuer, sessionLifetime: sessionLifetime, scopes: scopes,
                clients: ClientRegistry(clients),
                allowsAccountsWithoutApple: OAuthDraft.allowsAccountsWithoutApple.value.flag(in: draft),
                refreshRetryWindow: refreshRetryWindow, nativeRefreshTokenLimit: Int(nativeLimit),
                explainsRefusals: context.isDevelopment, languages: context.languages, appNames: appNames))
    }
}

/// All of the service's clients, by ID.
public struct ClientRegistry: Sendable {
    /// The clients, in configuration order.
    public let clients: [OAuthClient]
    private let indexByID: [OAuthClientID: Int]
    private let appFlipURIs: [RegisteredRedirectURI]
    /// Redirect URIs that Google puts into intents for Android apps.
    private let intentURIs: [RegisteredRedirectURI]

    /// - Parameter clients: Clients with distinct IDs.
    init(_ clients: [OAuthClient]) {
        self.clients = clients
        var index: [OAuthClientID: Int] = [:]
        for (position, client) in clients.enumerated() { index[client.id] = position }
        indexByID = index
        var known: Set<RegisteredRedirectURI> = []
        appFlipURIs = clients.flatMap(\.redirectURIs).filter {
            $0.form == .appFlip && known.insert($0).inserted
        }
        intentURIs = clients.filter { $0.hasAppFlip && $0.androidApp != nil }.flatMap(\.redirectURIs)
            .filter { $0.form == .googleProject }
    }

    public subscript(id: OAuthClientID) -> OAuthClient? { indexByID[id].map { clients[$0] } }

    public subscript(id: String) -> OAuthClient? { OAuthClientID(id).flatMap { self[$0] } }

    /// True if any client uses App Flip.
    public var hasAppFlip: Bool { !appFlipURIs.isEmpty }

    /// Returns the redirect target for an App Flip URI of any client. Returns `nil` for any other URI.
    ///
    /// The URIs belong to Google, so it is safe to send an error there even if the client is unknown.
    public func appFlipTarget(for uri: String) -> RedirectTarget? {
        for registered in appFlipURIs {
            if let target = registered.target(for: uri) { return target }
        }
        return nil
    }

    /// Returns the target for a URI that Google puts into an intent for an Android app. Returns `nil` for any
    /// other URI. No browser opens the URI, because the app passes the result to Google's app; the URI only
    /// serves to bind the code.
    func intentTarget(for uri: String) -> RedirectTarget? {
        intentURIs.lazy.compactMap { $0.target(for: uri) }.first
    }
}

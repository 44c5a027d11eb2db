public import AppleAccounts

/// The section `oauth` of the configuration after all checks. It does not change while the service runs.
public struct OAuthSettings: Sendable {
    public let issuer: Issuer
    /// Seconds after a sign-in at Apple within which the browser needs no new sign-in.
    public let sessionLifetime: Int64
    public let scopes: ScopeCatalog
    public let clients: ClientRegistry
    /// True if the intent `create` of Google's streamlined linking may
    /// create an account without an Apple identity.
    public let allowsAccountsWithoutApple: Bool
    /// Seconds since its first exchange in which a refresh token may be exchanged
    /// again, for clients without their own setting.
    public let refreshRetryWindow: Int64
    /// Largest number of refresh tokens that all native clients together have for
    /// one account. Above it the oldest token ends.
    public let nativeRefreshTokenLimit: Int
    /// True in development: responses of the token endpoint name the reason of a refusal.
    public let explainsRefusals: Bool
    /// The languages of the pages.
    public let languages: PageLanguages
    /// Names of the apps for users, by primary client ID. Not every app has a name.
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

    /// Returns the name of an app on the pages. For an app without a name it is the host of
    /// the issuer, which users see in the address bar.
    ///
    /// - Parameter app: Its primary client ID.
    public func appName(of app: ClientID) -> LocalizedText {
        appNames[app] ?? LocalizedText(english: issuer.host)
    }

    /// The result of the checks.
    public enum Checked: Sendable {
        /// The configuration declares no client: the service has no authorization server.
        case none
        case usable(OAuthSettings)
        /// All mistakes, so that an operator corrects the file once. Never empty.
        case refused([OAuthMistake])
    }

    public static func check(_ draft: OAuthDraft, in context: OAuthContext) -> Checked {
        var check = OAuthCheck(context)
        let issuer = draft.clients.isEmpty ? nil : check.issuer(draft)
        let scopes = check.catalog(of: draft.scopes)
        // Without an issuer there is no default audience, so clients are checked with a placeholder that is
        // never used.
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

/// All clients of the service, by their IDs.
public struct ClientRegistry: Sendable {
    /// Clients in the order of the configuration.
    public let clients: [OAuthClient]
    private let indexByID: [OAuthClientID: Int]
    private let appFlipURIs: [RegisteredRedirectURI]
    /// Redirect URIs that Google names in the intent for an Android app.
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

    /// True if a client has App Flip.
    public var hasAppFlip: Bool { !appFlipURIs.isEmpty }

    /// Returns the target of a redirect to a URI of App Flip of any client; `nil` for any other URI.
    ///
    /// The URIs belong to Google, so an error may be sent there even if the client is unknown.
    public func appFlipTarget(for uri: String) -> RedirectTarget? {
        for registered in appFlipURIs {
            if let target = registered.target(for: uri) { return target }
        }
        return nil
    }

    /// Returns the target for a URI that Google names in the intent for an Android app; `nil` for any other
    /// URI. The URI is never opened: the app passes the result to Google's app. The code is bound to the URI.
    func intentTarget(for uri: String) -> RedirectTarget? {
        intentURIs.lazy.compactMap { $0.target(for: uri) }.first
    }
}

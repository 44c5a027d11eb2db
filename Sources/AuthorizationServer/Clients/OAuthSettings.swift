public import AppleAccounts

/// The section `oauth` of the configuration after all checks. It does not change while the service runs.
public struct OAuthSettings: Sendable {
    public let issuer: Issuer
    /// How many seconds after a sign-in at Apple the browser needs no other one. 10 minutes by default.
    public let sessionLifetime: Int64
    public let scopes: ScopeCatalog
    public let clients: ClientRegistry
    /// Whether the intent `create` of Google's streamlined linking may make an account that no Apple identity
    /// belongs to.
    public let allowsAccountsWithoutApple: Bool
    /// How many refresh tokens all native clients together have for one account. Past it the oldest ends.
    public let nativeRefreshTokenLimit: Int
    /// What people call the apps, by primary client ID. Not every app has a name.
    private let appNames: [ClientID: LocalizedText]

    static let defaultSessionLifetime: Int64 = 600
    static let sessionLifetimeBounds: ClosedRange<Int64> = 1...86_400
    static let refreshTokenLimits: ClosedRange<Int64> = 1...200
    static let defaultRefreshTokenLimit = 10
    static let defaultNativeRefreshTokenLimit = 50

    init(
        issuer: Issuer, sessionLifetime: Int64, scopes: ScopeCatalog, clients: ClientRegistry,
        allowsAccountsWithoutApple: Bool, nativeRefreshTokenLimit: Int,
        appNames: [ClientID: LocalizedText] = [:]
    ) {
        self.issuer = issuer
        self.sessionLifetime = sessionLifetime
        self.scopes = scopes
        self.clients = clients
        self.allowsAccountsWithoutApple = allowsAccountsWithoutApple
        self.nativeRefreshTokenLimit = nativeRefreshTokenLimit
        self.appNames = appNames
    }

    /// What the pages call an app. The host of the issuer is what people see in the address bar, so it stands
    /// for an app without a name.
    ///
    /// - Parameter app: By its primary client ID.
    public func appName(of app: ClientID) -> LocalizedText {
        appNames[app] ?? LocalizedText(english: issuer.host)
    }

    /// What came of the checks.
    public enum Checked: Sendable {
        /// No client is declared: the service has no authorization server.
        case none
        case usable(OAuthSettings)
        /// All of them, so that an operator corrects the file once. Never empty.
        case refused([OAuthMistake])
    }

    public static func check(_ draft: OAuthDraft, in surroundings: OAuthSurroundings) -> Checked {
        var check = OAuthCheck(surroundings)
        let issuer = draft.clients.isEmpty ? nil : check.issuer(draft)
        let scopes = check.catalog(of: draft.scopes)
        // Without an issuer there is no audience, so clients are checked with one that is never used.
        let clients = draft.clients.compactMap { client in
            check.client(client, scopes: scopes, defaultAudience: issuer?.text ?? "https://unknown.invalid")
        }
        check.checkUniqueness(of: draft.clients)
        let sessionLifetime = check.sessionLifetime(draft)
        let nativeLimit = check.limit(
            draft.nativeRefreshTokenLimit, at: "oauth.native_refresh_token_limit",
            default: defaultNativeRefreshTokenLimit)
        let appNames = check.appNames(draft)
        guard check.mistakes.isEmpty else { return .refused(check.mistakes) }
        guard let issuer else { return .none }
        return .usable(
            OAuthSettings(
                issuer: issuer, sessionLifetime: sessionLifetime, scopes: scopes,
                clients: ClientRegistry(clients),
                allowsAccountsWithoutApple: draft.allowsAccountsWithoutApple,
                nativeRefreshTokenLimit: nativeLimit, appNames: appNames))
    }
}

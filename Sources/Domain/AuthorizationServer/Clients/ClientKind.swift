/// A kind of clients: everything that all clients of the kind share. Checks, rules, help and
/// `siwa client new` derive from these values; `OAuthClient` has the other values of a client.
public struct ClientKind: Sendable {
    /// The word of the configuration.
    public let name: String
    /// The plural noun for the kind, in the help of `siwa client`.
    public let plural: String
    /// The members of `oauth.clients` for this kind, in addition to the members of every kind.
    public let members: [ClientMember]
    /// True if a client must authenticate with a secret (RFC 6749 §2.1). The service does not start
    /// with a confidential client without a secret.
    public let isConfidential: Bool
    /// The rule for code challenges of authorization requests. `require_pkce: false` relaxes it.
    public let proofKeyRule: ProofKeyRule
    /// The source of redirect URIs, and the safe forms.
    public let redirectURIs: RedirectURIRule
    /// True if each use replaces the refresh token (RFC 9700 §4.14 requires it for public clients).
    public let rotatesRefreshTokens: Bool
    /// True if a client gets a refresh token only with the scope
    /// `offline_access`. Other clients always get a refresh token.
    public let needsOfflineAccess: Bool
    /// True if refresh tokens count towards `native_refresh_token_limit` of an account.
    public let sharesRefreshTokenLimit: Bool
    /// The default of `refresh_token_idle_lifetime`, in seconds. `nil` means forever.
    public let refreshTokenIdleLifetime: Int64?
    /// True if a user who has agreed once sees no consent page the next time.
    public let remembersConsent: Bool
    /// The default scopes of `siwa client new`.
    public let usualScopes: [ScopeToken]

    /// Google, for account linking: confidential.
    public static let googleLinking = ClientKind(
        name: "google_linking",
        plural: "Google account linking",
        members: [
            .projectID, .googleClientIDs, .appFlip, .appFlipBundleIDs, .appFlipLinkPaths,
            .appFlipTestRedirectURIs, .androidPackage, .androidFingerprints,
        ],
        isConfidential: true,
        // Google's requests have no challenge yet.
        proofKeyRule: .optional,
        redirectURIs: .ofGoogle,
        // Google expects several valid refresh tokens at once, and tokens that do not expire.
        rotatesRefreshTokens: false,
        needsOfflineAccess: false,
        sharesRefreshTokenLimit: false,
        refreshTokenIdleLifetime: nil,
        // An attacker could begin a link at Google and send its address to a user: the user's browser would
        // complete the link to the attacker's Google account. Only the consent page prevents this.
        remembersConsent: false,
        usualScopes: [.openID, .email, .profile])

    /// A web application with a server: confidential.
    public static let web = ClientKind(
        name: "web",
        plural: "web applications",
        members: [
            .isFirstParty, .postLogoutRedirectURIs, .refreshRetryWindow, .requiresPKCE, .allowsDeviceGrant,
            .allowsHomeScreenApp, .events, .eventTypes, .eventsURL, .eventsPrivateNetworks,
        ],
        isConfidential: true,
        proofKeyRule: .required,
        redirectURIs: .ofServer,
        rotatesRefreshTokens: true,
        needsOfflineAccess: true,
        sharesRefreshTokenLimit: false,
        refreshTokenIdleLifetime: halfYear,
        // A loopback address is possible only in development, where developers should see the same pages as
        // users later. Redeeming a code requires the client's secret.
        remembersConsent: true,
        usualScopes: [.openID, .email, .profile, .offlineAccess])

    /// An installed app: public. Every owner of a copy can read its contents (RFC 8252 §8.5).
    public static let native = ClientKind(
        name: "native",
        plural: "native apps",
        members: [
            .isFirstParty, .postLogoutRedirectURIs, .refreshRetryWindow, .platform, .allowsPlainPKCE,
            .allowsLocalhost,
            .allowsCustomScheme, .bundleID, .appCheck, .firstAttestingVersion, .allowsNativeSignIn,
            .allowsDeviceGrant, .events, .eventTypes, .eventsURL, .eventsPrivateNetworks, .androidPackage,
            .androidFingerprints,
        ],
        isConfidential: false,
        proofKeyRule: .required,
        redirectURIs: .ofInstalledApp,
        rotatesRefreshTokens: true,
        needsOfflineAccess: false,
        sharesRefreshTokenLimit: true,
        refreshTokenIdleLifetime: halfYear,
        // Every app on the device can claim a custom scheme or a loopback port, so consent to one app must
        // not count for another (RFC 8252 §8.6).
        remembersConsent: false,
        usualScopes: [.openID, .email, .profile, .offlineAccess])

    /// All kinds in the order of error texts and help.
    public static let all = [googleLinking, web, native]

    /// Default idle lifetime of 180 days, so that a forgotten installation does not stay signed in.
    private static let halfYear: Int64 = 15_552_000

    public static func named(_ name: String) -> ClientKind? { all.first { $0.name == name } }
}

/// The platform of a native client. It decides which redirect URIs are safe (RFC 8252, appendix B).
public enum NativePlatform: String, Sendable, Hashable, CaseIterable {
    case ios, android, macos, windows, linux, uwp

    /// True if a client may listen on a loopback port. On a phone another app can take the port while the
    /// client is in the background.
    public var allowsLoopback: Bool {
        switch self {
        case .ios, .android: false
        case .macos, .windows, .linux, .uwp: true
        }
    }

    /// True if any app can claim the scheme of another app, and the user cannot see which app gets the code.
    public var sharesCustomSchemes: Bool { self == .android }

    /// True if apps have Apple's sheet, which signs users in without a browser.
    public var hasSignInWithApple: Bool {
        switch self {
        case .ios, .macos: true
        case .android, .windows, .linux, .uwp: false
        }
    }

    /// The length in characters of the longest custom scheme that the system accepts. `nil` means no bound.
    public var longestScheme: Int? { self == .uwp ? 39 : nil }
}

/// A kind of client, with the properties that all clients of the kind share. Checks, rules, help and `siwa
/// client new` derive from these values. `OAuthClient` holds the values of a single client.
public struct ClientKind: Sendable {
    /// The name of the kind in the configuration.
    public let name: String
    /// The plural noun for the kind, as used in the help for `siwa client`.
    public let plural: String
    /// The members that clients of this kind may have in addition to the members that all kinds share.
    public let members: [ClientMember]
    /// True if a client must authenticate with a secret (RFC 6749 §2.1). The service does not start if a
    /// confidential client has no secret.
    public let isConfidential: Bool
    /// The rule for code challenges in authorization requests. `require_pkce: false` relaxes it.
    public let proofKeyRule: ProofKeyRule
    /// The source of the redirect URIs, and the URI forms that are safe.
    public let redirectURIs: RedirectURIRule
    /// True if each use replaces the refresh token (RFC 9700 §4.14 requires it for public clients).
    public let rotatesRefreshTokens: Bool
    /// True if the client gets a refresh token only when the scope contains `offline_access`. Clients of
    /// other kinds always get one.
    public let needsOfflineAccess: Bool
    /// True if the client's refresh tokens count towards an account's `native_refresh_token_limit`.
    public let sharesRefreshTokenLimit: Bool
    /// The default of `refresh_token_idle_lifetime`, in seconds. `nil` means that refresh tokens do not
    /// expire.
    public let refreshTokenIdleLifetime: Int64?
    /// True if a user who has agreed once sees no consent page at later sign-ins.
    public let remembersConsent: Bool
    /// The scopes that `siwa client new` proposes by default.
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
        // Google's authorization requests have no code challenge yet.
        proofKeyRule: .optional,
        redirectURIs: .ofGoogle,
        // Google expects to hold several valid refresh tokens at once, and expects them never to expire.
        rotatesRefreshTokens: false,
        needsOfflineAccess: false,
        sharesRefreshTokenLimit: false,
        refreshTokenIdleLifetime: nil,
        // An attacker could begin linking at Google and send the resulting address to a user, whose browser
        // would then complete the link to the attacker's Google account. Only the consent page prevents this
        // attack.
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
        // Consent can be remembered, because a code can only be redeemed with the client's secret. Loopback
        // addresses are no exception: they are accepted only in development, where developers should see the
        // same pages as users in production.
        remembersConsent: true,
        usualScopes: [.openID, .email, .profile, .offlineAccess])

    /// An installed app: public, because everyone who has a copy can read its contents (RFC 8252 §8.5).
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
        // Any app on the device can claim a custom scheme or a loopback port, so consent given to one app
        // must not count for another (RFC 8252 §8.6).
        remembersConsent: false,
        usualScopes: [.openID, .email, .profile, .offlineAccess])

    /// All kinds, in the order in which error texts and help list them.
    public static let all = [googleLinking, web, native]

    /// Default idle lifetime, in seconds: 180 days, so that a forgotten installation does not stay signed in.
    private static let halfYear: Int64 = 15_552_000

    public static func named(_ name: String) -> ClientKind? { all.first { $0.name == name } }
}

/// A native client's platform. It determines which redirect URIs are safe (RFC 8252, appendix B).
public enum NativePlatform: String, Sendable, Hashable, CaseIterable {
    case ios, android, macos, windows, linux, uwp

    /// True if a client may listen on a loopback port. On a phone it may not, because another app can take
    /// the port while the client is in the background.
    public var allowsLoopback: Bool {
        switch self {
        case .ios, .android: false
        case .macos, .windows, .linux, .uwp: true
        }
    }

    /// True if any app can claim another app's scheme, so that the user cannot see which app gets the code.
    public var sharesCustomSchemes: Bool { self == .android }

    /// True if the platform shows Apple's sign-in sheet, which signs users in without a browser.
    public var hasSignInWithApple: Bool {
        switch self {
        case .ios, .macos: true
        case .android, .windows, .linux, .uwp: false
        }
    }

    /// Maximum length of a custom scheme on the platform, in characters. `nil` means no limit.
    public var longestScheme: Int? { self == .uwp ? 39 : nil }
}

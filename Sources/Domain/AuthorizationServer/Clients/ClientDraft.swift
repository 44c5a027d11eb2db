import AppAttestation

/// An entry of `oauth.clients`. Each property is named after the member that it holds.
public struct ClientDraft: Sendable {
    /// `id`
    public var id: String
    /// `kind`: the name of a `ClientKind`
    public var kind: String
    /// `app`: the primary client ID of the client's app
    public var app: String
    /// `name`, by language tag
    public var name: [String: String]
    /// `purpose`, by language tag
    public var purpose: [String: String] = [:]
    /// `first_party`: `true` for a client of the app's own developer
    public var isFirstParty: Bool?
    /// `secret_hashes`: SHA-256 as hexadecimal digits
    public var secretHashes: [String] = []
    /// `scopes`
    public var scopes: [String] = []
    /// `imply_openid`: identity scopes imply `openid`
    public var impliesOpenID: Bool?
    /// `logo_file`: a PNG or an SVG
    public var logoFile: String?
    /// `policy_uri` and `terms_uri`
    public var policyURI, termsURI: String?
    /// `redirect_uris`
    public var redirectURIs: [String] = []
    /// `post_logout_redirect_uris`. Not for `google_linking`
    public var postLogoutRedirectURIs: [String] = []
    /// `audience`
    public var audience: String?
    /// `access_token_algorithm` and `id_token_algorithm`: `ES256` or `RS256`
    public var accessTokenAlgorithm, idTokenAlgorithm: String?
    /// `max_authentication_age`, in seconds, like all lifetimes
    public var maxAuthenticationAge: Int64?
    /// `code_lifetime`
    public var codeLifetime: Int64?
    /// `access_token_lifetime`
    public var accessTokenLifetime: Int64?
    /// `refresh_token_idle_lifetime`: seconds since the last use of the token
    public var refreshTokenIdleLifetime: Int64?
    /// `refresh_token_lifetime`: seconds since the code was redeemed
    public var refreshTokenLifetime: Int64?
    /// `refresh_retry_window`. Not for `google_linking`, because Google's refresh tokens are not exchanged
    public var refreshRetryWindow: Int64?
    /// `refresh_token_limit`: maximum number of refresh tokens per account
    public var refreshTokenLimit: Int64?

    /// `events`: `push` or `poll`. Not for `google_linking`, like the next three members
    public var events: String?
    /// `event_types`: event names from the event feed
    public var eventTypes: [String]?
    /// `events_url`: only with `push`
    public var eventsURL: String?
    /// `events_private_networks`: only with `push`
    public var eventsPrivateNetworks: [String] = []

    /// `platform`: `ios`, `android`, `macos`, `windows`, `linux` or `uwp`. Only for `native`
    public var platform: String?
    /// `allow_plain_pkce`. Only for `native`
    public var allowsPlainPKCE: Bool?
    /// `allow_localhost`. Only for `native`
    public var allowsLocalhost: Bool?
    /// `bundle_id`: the bundle ID of the app that uses the client. Only for `native`
    public var bundleID: String?
    /// `app_check`: the name of an `AppCheckMode`. Only for `native`
    public var appCheck: String?
    /// `first_attesting_version`: the first version of the app that attests. Only for `native`
    public var firstAttestingVersion: String?
    /// `allow_custom_scheme`: allows custom URI schemes on Android. Only for `native`
    public var allowsCustomScheme: Bool?
    /// `allow_native_sign_in`: the app may exchange Apple's identity tokens. Only for `native`
    public var allowsNativeSignIn: Bool?
    /// `allow_device_grant`: devices without a browser may ask for a user's consent. Only for `native` and
    /// `web`
    public var allowsDeviceGrant: Bool?
    /// `require_pkce`. Only for `web`
    public var requiresPKCE: Bool?
    /// `allow_home_screen_app`: allows the client's web app on the iOS home screen. Only for `web`
    public var allowsHomeScreenApp: Bool?

    /// `project_id`. Only for `google_linking`, like all members below
    public var projectID: String?
    /// `google_client_ids`
    public var googleClientIDs: [String] = []
    /// `app_flip`
    public var appFlip: Bool?
    /// `app_flip_bundle_ids`: Google apps in addition to the six known apps
    public var appFlipBundleIDs: [String] = []
    /// `app_flip_link_paths`: the paths of the universal links that Google opens
    public var appFlipLinkPaths: [String] = []
    /// `app_flip_test_redirect_uris`: redirect URIs of Google's test tool, in development only
    public var appFlipTestRedirectURIs: [String] = []
    /// `android_package`: the Android app's application ID. Only for `google_linking` and `native`, like the
    /// next member
    public var androidPackage: String?
    /// `android_fingerprints`: SHA-256 fingerprints of the Android app's signing certificates
    public var androidFingerprints: [String] = []

    public init(id: String, kind: String, app: String, name: [String: String]) {
        self.id = id
        self.kind = kind
        self.app = app
        self.name = name
    }
}

/// A member of a client's entry in `oauth.clients`: its name in the file, its value type, its bounds and its
/// default. The configuration file reader, the check that refuses members of other kinds, `siwa client new`
/// and the documentation's configuration page all use this list. Rules about a particular value, or about two
/// members together, are in `OAuthCheck`.
public struct ClientMember: Sendable {
    public let name: String
    public let value: DraftValue<ClientDraft>
    private let meaning: Meaning

    private enum Meaning {
        case forEveryKind
        /// Only clients whose kind lists the member may have it.
        case forSomeKinds
    }

    private init(_ name: String, _ meaning: Meaning, _ value: DraftValue<ClientDraft>) {
        (self.name, self.meaning, self.value) = (name, meaning, value)
    }

    /// All members, in the order in which `siwa client new` writes them.
    public static let all = [
        ClientMember("id", .forEveryKind, .text(\.id)),
        ClientMember("kind", .forEveryKind, .word(\.kind)),
        ClientMember("app", .forEveryKind, .text(\.app)),
        ClientMember("name", .forEveryKind, .texts(\.name)),
        ClientMember("purpose", .forEveryKind, .texts(\.purpose)),
        isFirstParty,
        ClientMember("logo_file", .forEveryKind, .optionalText(\.logoFile)),
        ClientMember("policy_uri", .forEveryKind, .optionalText(\.policyURI)),
        ClientMember("terms_uri", .forEveryKind, .optionalText(\.termsURI)),
        ClientMember("secret_hashes", .forEveryKind, .list(\.secretHashes, default: [])),
        ClientMember("scopes", .forEveryKind, .list(\.scopes, default: [])),
        impliesOpenID,
        ClientMember("redirect_uris", .forEveryKind, .list(\.redirectURIs, default: [])),
        postLogoutRedirectURIs,
        ClientMember("audience", .forEveryKind, .optionalText(\.audience)),
        accessTokenAlgorithm, idTokenAlgorithm, maxAuthenticationAge, codeLifetime, accessTokenLifetime,
        refreshTokenIdleLifetime, refreshTokenLifetime, refreshRetryWindow, refreshTokenLimit, events,
        eventTypes,
        eventsURL, eventsPrivateNetworks, platform, allowsPlainPKCE,
        allowsLocalhost, allowsCustomScheme, bundleID, appCheck, firstAttestingVersion, allowsNativeSignIn,
        allowsDeviceGrant, requiresPKCE, allowsHomeScreenApp,
        projectID, googleClientIDs, appFlip, appFlipBundleIDs,
        appFlipLinkPaths, appFlipTestRedirectURIs, androidPackage, androidFingerprints,
    ]

    static let isFirstParty = ClientMember(
        "first_party", .forSomeKinds, .flag(\.isFirstParty, default: false))
    static let postLogoutRedirectURIs = ClientMember(
        "post_logout_redirect_uris", .forSomeKinds, .list(\.postLogoutRedirectURIs, default: []))
    static let impliesOpenID = ClientMember(
        "imply_openid", .forEveryKind, .flag(\.impliesOpenID, default: false))
    static let accessTokenAlgorithm = ClientMember(
        "access_token_algorithm", .forEveryKind,
        .optionalWord(\.accessTokenAlgorithm, default: TokenAlgorithm.es256.rawValue))
    static let idTokenAlgorithm = ClientMember(
        "id_token_algorithm", .forEveryKind,
        .optionalWord(\.idTokenAlgorithm, default: TokenAlgorithm.rs256.rawValue))
    static let maxAuthenticationAge = ClientMember(
        "max_authentication_age", .forEveryKind, .optionalSeconds(\.maxAuthenticationAge, 0...tenYears))
    static let codeLifetime = ClientMember(
        "code_lifetime", .forEveryKind, .number(\.codeLifetime, 1...600, .seconds, default: 600))
    static let accessTokenLifetime = ClientMember(
        "access_token_lifetime", .forEveryKind,
        .number(\.accessTokenLifetime, 1...86_400, .seconds, default: 3600))
    /// The default depends on the client's kind.
    static let refreshTokenIdleLifetime = ClientMember(
        "refresh_token_idle_lifetime", .forEveryKind,
        .optionalSeconds(\.refreshTokenIdleLifetime, 1...tenYears))
    static let refreshTokenLifetime = ClientMember(
        "refresh_token_lifetime", .forEveryKind, .optionalSeconds(\.refreshTokenLifetime, 1...tenYears))
    /// The default is the value in the `oauth` section.
    static let refreshRetryWindow = ClientMember(
        "refresh_retry_window", .forSomeKinds, .optionalSeconds(\.refreshRetryWindow, 0...600))
    /// The limit has an upper bound, because every transaction on an account reads all of its refresh tokens.
    static let refreshTokenLimit = ClientMember(
        "refresh_token_limit", .forEveryKind,
        .number(\.refreshTokenLimit, 1...200, .refreshTokens, default: 10))
    static let events = ClientMember("events", .forSomeKinds, .optionalWord(\.events, default: nil))
    static let eventTypes = ClientMember("event_types", .forSomeKinds, .optionalList(\.eventTypes))
    static let eventsURL = ClientMember("events_url", .forSomeKinds, .optionalText(\.eventsURL))
    static let eventsPrivateNetworks = ClientMember(
        "events_private_networks", .forSomeKinds, .list(\.eventsPrivateNetworks, default: []))
    static let platform = ClientMember(
        "platform", .forSomeKinds, .optionalWord(\.platform, default: nil))
    static let allowsPlainPKCE = ClientMember(
        "allow_plain_pkce", .forSomeKinds, .flag(\.allowsPlainPKCE, default: false))
    static let allowsLocalhost = ClientMember(
        "allow_localhost", .forSomeKinds, .flag(\.allowsLocalhost, default: false))
    /// The default is the app's primary client ID.
    static let bundleID = ClientMember("bundle_id", .forSomeKinds, .optionalText(\.bundleID))
    static let appCheck = ClientMember(
        "app_check", .forSomeKinds, .optionalWord(\.appCheck, default: AppCheckMode.off.rawValue))
    /// The default is the first attesting version of the bundle ID.
    static let firstAttestingVersion = ClientMember(
        "first_attesting_version", .forSomeKinds, .optionalText(\.firstAttestingVersion))
    /// Custom schemes are off by default, because on Android any app can claim another app's scheme.
    static let allowsCustomScheme = ClientMember(
        "allow_custom_scheme", .forSomeKinds, .flag(\.allowsCustomScheme, default: false))
    static let allowsNativeSignIn = ClientMember(
        "allow_native_sign_in", .forSomeKinds, .flag(\.allowsNativeSignIn, default: false))
    static let allowsDeviceGrant = ClientMember(
        "allow_device_grant", .forSomeKinds, .flag(\.allowsDeviceGrant, default: false))
    /// A public client must use PKCE, its only way to bind a code to itself. Google sends no challenge.
    static let requiresPKCE = ClientMember(
        "require_pkce", .forSomeKinds, .flag(\.requiresPKCE, default: true))
    static let allowsHomeScreenApp = ClientMember(
        "allow_home_screen_app", .forSomeKinds, .flag(\.allowsHomeScreenApp, default: false))
    static let projectID = ClientMember("project_id", .forSomeKinds, .optionalText(\.projectID))
    static let googleClientIDs = ClientMember(
        "google_client_ids", .forSomeKinds, .list(\.googleClientIDs, default: []))
    static let appFlip = ClientMember("app_flip", .forSomeKinds, .flag(\.appFlip, default: false))
    static let appFlipBundleIDs = ClientMember(
        "app_flip_bundle_ids", .forSomeKinds, .list(\.appFlipBundleIDs, default: []))
    static let appFlipLinkPaths = ClientMember(
        "app_flip_link_paths", .forSomeKinds, .list(\.appFlipLinkPaths, default: ["/link/google/*"]))
    static let appFlipTestRedirectURIs = ClientMember(
        "app_flip_test_redirect_uris", .forSomeKinds, .list(\.appFlipTestRedirectURIs, default: []))

    static let androidPackage = ClientMember(
        "android_package", .forSomeKinds, .optionalText(\.androidPackage))
    static let androidFingerprints = ClientMember(
        "android_fingerprints", .forSomeKinds, .list(\.androidFingerprints, default: []))

    private static let tenYears: Int64 = 315_360_000

    /// Returns true if clients of this kind may have the member.
    public func hasMeaning(for kind: ClientKind) -> Bool {
        switch meaning {
        case .forEveryKind: true
        case .forSomeKinds: kind.members.contains { $0.name == name }
        }
    }
}

extension ClientDraft: SectionDraft {
    public static let empty = ClientDraft(id: "", kind: "", app: "", name: [:])
    public static let members: [DraftMember<ClientDraft>] = ClientMember.all.map {
        DraftMember($0.name, $0.value)
    }
}

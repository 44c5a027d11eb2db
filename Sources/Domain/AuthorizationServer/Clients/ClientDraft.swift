/// An entry of `oauth.clients`. Each member is named as in the file, in the words of Swift.
public struct ClientDraft: Sendable {
    /// `id`
    public var id: String
    /// `kind`: the name of a `ClientKind`
    public var kind: String
    /// `app`: the primary client ID of its app
    public var app: String
    /// `name`, by language tag
    public var name: [String: String]
    /// `purpose`, by language tag
    public var purpose: [String: String] = [:]
    /// `first_party`: `true` for a client of the app's own makers
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
    /// `max_authentication_age`, in seconds, as all lifetimes
    public var maxAuthenticationAge: Int64?
    /// `code_lifetime`
    public var codeLifetime: Int64?
    /// `access_token_lifetime`
    public var accessTokenLifetime: Int64?
    /// `refresh_token_idle_lifetime`: since the last use
    public var refreshTokenIdleLifetime: Int64?
    /// `refresh_token_lifetime`: since the code was redeemed
    public var refreshTokenLifetime: Int64?
    /// `refresh_retry_window`. Not for `google_linking`, whose tokens are not exchanged
    public var refreshRetryWindow: Int64?
    /// `refresh_token_limit`: number for one account
    public var refreshTokenLimit: Int64?

    /// `events`: `push` or `poll`. Not for `google_linking`, like the next three members
    public var events: String?
    /// `event_types`: words of the event feed
    public var eventTypes: [String]?
    /// `events_url`: with `push`
    public var eventsURL: String?
    /// `events_private_networks`: with `push`
    public var eventsPrivateNetworks: [String] = []

    /// `platform`: `ios`, `android`, `macos`, `windows`, `linux` or `uwp`. Only for `native`
    public var platform: String?
    /// `allow_plain_pkce`. Only for `native`
    public var allowsPlainPKCE: Bool?
    /// `allow_localhost`. Only for `native`
    public var allowsLocalhost: Bool?
    /// `bundle_id`: of the app that signs in with the client. Only for `native`
    public var bundleID: String?
    /// `app_check`: the name of an `AppCheckMode`. Only for `native`
    public var appCheck: String?
    /// `first_attesting_version`: of the app. Only for `native`
    public var firstAttestingVersion: String?
    /// `allow_custom_scheme`: on Android. Only for `native`
    public var allowsCustomScheme: Bool?
    /// `allow_native_sign_in`: the app may exchange Apple's identity tokens. Only for `native`
    public var allowsNativeSignIn: Bool?
    /// `allow_device_grant`: devices without a browser may ask for a user. Only for `native` and `web`
    public var allowsDeviceGrant: Bool?
    /// `require_pkce`. Only for `web`
    public var requiresPKCE: Bool?
    /// `allow_home_screen_app`: of iOS. Only for `web`
    public var allowsHomeScreenApp: Bool?

    /// `project_id`. Only for `google_linking`, like all members below
    public var projectID: String?
    /// `google_client_ids`
    public var googleClientIDs: [String] = []
    /// `app_flip`
    public var appFlip: Bool?
    /// `app_flip_bundle_ids`: more apps of Google than the six known ones
    public var appFlipBundleIDs: [String] = []
    /// `app_flip_link_paths`: the paths of the universal links that Google opens
    public var appFlipLinkPaths: [String] = []
    /// `app_flip_test_redirect_uris`: URIs of Google's test tool, in development only
    public var appFlipTestRedirectURIs: [String] = []
    /// `android_package`: the application ID of the app on Android. Only for `google_linking` and `native`, as
    /// the next member
    public var androidPackage: String?
    /// `android_fingerprints`: SHA-256 of the certificates that sign it
    public var androidFingerprints: [String] = []

    public init(id: String, kind: String, app: String, name: [String: String]) {
        self.id = id
        self.kind = kind
        self.app = app
        self.name = name
    }
}

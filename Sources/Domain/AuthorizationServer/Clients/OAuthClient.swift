public import AppAttestation
public import AppleAccounts
import Cryptography
import Encodings

/// A configured client of this authorization server that has passed all checks.
///
/// A client does not change while the service runs. It is a class because every request refers to its client,
/// and passing a reference is cheaper than copying fifteen members.
public final class OAuthClient: Sendable {
    public let id: OAuthClientID
    public let kind: ClientKind
    /// Google linking settings. `nil` for every client except Google.
    public let googleLinking: GoogleLinking?
    /// The client's Android app. For Google, the app that Google starts with an intent.
    public let androidApp: AndroidApp?
    /// The app's primary client ID.
    public let app: ClientID
    /// The name that users see.
    public let name: LocalizedText
    /// The purpose of the client, as a sentence for users.
    public let purpose: LocalizedText?
    /// The logo and the links for the pages.
    public let appearance: ClientAppearance
    /// True for a client of the app's own developer. Its consent page is titled "Sign in", but is still
    /// shown.
    public let isFirstParty: Bool
    /// Hashes of the client's secrets: several during a rotation, none for a public client without a secret.
    public let secretHashes: [OAuthClientSecretHash]
    /// Scopes that the client may request. A request without a scope gets all of them.
    public let scopes: ScopeSet
    /// True if the scopes `email` and `profile` imply `openid`.
    public let impliesOpenID: Bool
    public let redirectURIs: [RegisteredRedirectURI]
    /// URIs that a browser may be sent to after sign-out.
    public let postLogoutRedirectURIs: [RegisteredRedirectURI]
    public let lifetimes: ClientLifetimes
    /// Time after the first exchange of a refresh token during which the client may exchange it again, in
    /// seconds. `nil` means the time in `OAuthSettings`.
    public let refreshRetryWindow: Int64?
    /// Maximum number of the client's refresh tokens per account. Above the limit, the oldest token ends.
    public let refreshTokenLimit: Int
    /// Maximum age of the user's sign-in at Apple, in seconds. `nil` means no limit.
    public let maxAuthenticationAge: Int64?
    /// The `aud` of the client's access tokens, and the only `resource` that the client may request (RFC
    /// 8707).
    public let audience: String
    public let accessTokenAlgorithm: TokenAlgorithm
    public let idTokenAlgorithm: TokenAlgorithm
    /// True if the client may use the `plain` method of RFC 7636, which does not protect a code from an
    /// attacker who can read the authorization request.
    public let allowsPlainProofKeys: Bool
    /// The rule for code challenges in authorization requests.
    public let proofKeyRule: ProofKeyRule
    /// The App Check policy for token requests. `nil` if the client is not subject to App Check.
    public let appCheck: AppCheckPolicy?
    /// The `aud` of Apple's identity tokens that the client may exchange for tokens (RFC 8693). `nil` if its
    /// users sign in only with a browser.
    public let nativeSignInBundleID: ClientID?
    /// True if devices without a browser may ask for a user's consent (RFC 8628).
    public let allowsDeviceGrant: Bool
    /// True if the client's web app on the iOS home screen may open the consent page. Any web view on Apple's
    /// platforms can then open it too.
    public let allowsHomeScreenApp: Bool
    /// The client's event stream. `nil` if the client has none.
    public let events: ClientEvents?

    /// Reads a configuration entry member by member, and adds every mistake to the check.
    ///
    /// - Returns: `nil` if a mistake makes the client unusable.
    init?(
        _ draft: ClientDraft, in check: inout OAuthCheck, scopes catalog: ScopeCatalog,
        defaultAudience: String
    ) {
        guard let (id, kind) = check.identity(of: draft) else { return nil }
        (self.id, self.kind) = (id, kind)
        check.checkMembers(of: draft, kind: kind)
        let app = check.app(of: draft)
        let name = check.text(draft.name, at: "oauth.clients.name", of: draft.id, longest: 60)
        purpose =
            draft.purpose.isEmpty
            ? nil : check.text(draft.purpose, at: "oauth.clients.purpose", of: draft.id, longest: 300)
        let particulars = check.particulars(of: draft, kind)
        let scopes = check.scopes(of: draft, in: catalog)
        appearance = check.appearance(of: draft)
        // The remaining members are checked even after a mistake, so that all mistakes are reported together.
        // The bundle ID has two uses but is read only once, so that a mistake in it is reported only once.
        func flag(_ member: ClientMember) -> Bool { member.value.flag(in: draft) }
        let belongsToBundleID = draft.bundleID != nil || flag(.allowsNativeSignIn)
        let usesBundleID = belongsToBundleID || draft.appCheck != nil
        let bundleID = usesBundleID ? app.flatMap { check.bundleID(of: draft, $0) } : nil
        appCheck = check.appCheck(
            of: draft, id, kind, bundleID: bundleID, belongsToBundleID: belongsToBundleID)
        impliesOpenID = flag(.impliesOpenID)
        if let scopes, impliesOpenID, !scopes.contains(.openID) {
            check.add(
                .openIDMissing, at: "oauth.clients.imply_openid",
                "of \(draft.id) needs the scope openid among scopes; add it, or remove imply_openid")
        }
        nativeSignInBundleID = check.nativeSignInBundleID(of: draft, kind, bundleID: bundleID)
        events = check.events(of: draft, kind)
        secretHashes = check.secretHashes(of: draft, kind: kind)
        redirectURIs = particulars.map { check.redirectURIs(of: draft, kind, $0) } ?? []
        postLogoutRedirectURIs = particulars.map { check.postLogoutRedirectURIs(of: draft, kind, $0) } ?? []
        androidApp = check.androidApp(draft, kind)
        lifetimes = check.lifetimes(of: draft, kind: kind)
        refreshRetryWindow = check.seconds(.refreshRetryWindow, of: draft)
        refreshTokenLimit = Int(check.number(.refreshTokenLimit, of: draft))
        maxAuthenticationAge = check.seconds(.maxAuthenticationAge, of: draft)
        audience = check.audience(of: draft, default: defaultAudience)
        let accessTokenAlgorithm = check.algorithm(.accessTokenAlgorithm, of: draft)
        let idTokenAlgorithm = check.algorithm(.idTokenAlgorithm, of: draft)
        isFirstParty = flag(.isFirstParty)
        allowsPlainProofKeys = flag(.allowsPlainPKCE)
        proofKeyRule = flag(.requiresPKCE) ? kind.proofKeyRule : .requiredWithoutNonce
        allowsDeviceGrant = flag(.allowsDeviceGrant)
        allowsHomeScreenApp = flag(.allowsHomeScreenApp)
        guard let app, let name, let particulars, let scopes, let accessTokenAlgorithm, let idTokenAlgorithm
        else { return nil }
        (self.app, self.name, googleLinking, self.scopes) = (app, name, particulars.googleLinking, scopes)
        (self.accessTokenAlgorithm, self.idTokenAlgorithm) = (accessTokenAlgorithm, idTokenAlgorithm)
    }
}

extension OAuthClient {
    /// True if App Check applies to the client's token requests.
    public var isJudged: Bool { appCheck.map { $0.mode != .off } ?? false }
}

extension OAuthClient: CustomStringConvertible {
    public var description: String { "client \(id.rawValue)" }
}

/// Rules that follow from the client's kind and settings.
extension OAuthClient {
    /// True if the client can use refresh tokens. A client that needs `offline_access` can no longer use them
    /// once the scope is removed from its configuration.
    public var mayRefresh: Bool { !kind.needsOfflineAccess || scopes.contains(.offlineAccess) }

    public var hasAppFlip: Bool { googleLinking?.appFlip ?? false }

    /// Returns true if the secret belongs to the client. The secret is compared with every hash, so that the
    /// duration does not reveal which one matched.
    public func accepts(secret: String) -> Bool {
        var isAccepted = false
        for hash in secretHashes where hash.matches(secret) { isAccepted = true }
        return isAccepted
    }

    /// Returns the requested scopes, prefixed with `openid` if `email` or `profile` implies it. Google's
    /// examples for native apps omit `openid` (`scope=email profile`), without which the client would get
    /// neither an ID token nor userinfo.
    public func completed(_ requested: ScopeSet) -> ScopeSet {
        guard impliesOpenID, requested.lacksOpenID else { return requested }
        return ScopeSet([.openID]).union(requested)
    }

    /// Returns the granted scopes that the client's configuration still contains. A scope that was removed
    /// from the configuration is no longer issued, even for an older code or refresh token.
    ///
    /// - Returns: `nil` if no scope remains.
    public func remainingScope(of granted: String) -> String? { scopes.remainder(of: granted) }

    /// Returns the redirect target for this URI. Returns `nil` if the client has no such URI.
    public func redirectTarget(for uri: String) -> RedirectTarget? {
        for registered in redirectURIs {
            if let target = registered.target(for: uri) { return target }
        }
        return nil
    }

    /// Returns the redirect target after sign-out; `nil` if the URI is not registered. The comparison is byte
    /// for byte, including the port of a loopback address (OpenID Connect RP-Initiated Logout 1.0 §3).
    func postLogoutTarget(for uri: String) -> RedirectTarget? {
        postLogoutRedirectURIs.first { $0.text.isByteEqual(to: uri) }?.target(for: uri)
    }
}

/// A client secret: `siwa_cs_` followed by 32 random bytes in base64url. `siwa client new` prints it once.
public struct OAuthClientSecret: Sendable, Confidential {
    public let text: String

    /// - Parameter randomBytes: 32 bytes from a cryptographic random number generator.
    public init(randomBytes: [UInt8]) {
        precondition(randomBytes.count == 32, "a client secret has 32 random bytes")
        text = "siwa_cs_" + Base64URL.encode(randomBytes)
    }

    /// The hash to put into the configuration.
    public var hash: OAuthClientSecretHash { OAuthClientSecretHash(SHA256Digest.hash(text)) }
}

/// The SHA-256 of a client secret. The secret cannot be recovered from it, because it has 256 random bits.
///
/// A slow hash would add no security, but would let any client exhaust the service's processor time.
public struct OAuthClientSecretHash: Sendable, Hashable {
    private let digest: SHA256Digest

    init(_ digest: SHA256Digest) {
        self.digest = digest
    }

    /// Returns `nil` unless the text has 64 hexadecimal digits, in either case.
    public init?(hexadecimal text: String) {
        guard let bytes = Hexadecimal.decode(text.lowercased()), let digest = SHA256Digest(bytes) else {
            return nil
        }
        self.digest = digest
    }

    /// The hash of the empty text. Secrets are compared with it if the request names no known client.
    static let ofNothing = OAuthClientSecretHash(SHA256Digest.hash(""))

    /// The hash as 64 lowercase hexadecimal digits.
    public var hexadecimal: String { Hexadecimal.encode(digest) }

    /// Returns true if this is the secret's hash. The comparison runs in constant time.
    public func matches(_ secret: String) -> Bool {
        ConstantTime.areEqual(digest, SHA256Digest.hash(secret))
    }
}

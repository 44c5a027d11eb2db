public import AppAttestation
public import AppleAccounts
import Cryptography
import Encodings

/// A client of this authorization server, from the configuration and after all checks.
///
/// A client does not change while the service runs. The type is a class, because every request refers to its
/// client, and passing a reference is cheaper than passing fifteen members.
public final class OAuthClient: Sendable {
    public let id: OAuthClientID
    public let kind: ClientKind
    /// Settings of Google linking; `nil` unless the client is Google.
    public let googleLinking: GoogleLinking?
    /// The client's app on Android; for Google the app that Google starts by an intent.
    public let androidApp: AndroidApp?
    /// Primary client ID of the app whose users the client serves.
    public let app: ClientID
    /// The name that users see.
    public let name: LocalizedText
    /// The purpose of the client, in a sentence for users.
    public let purpose: LocalizedText?
    /// The picture and the links on the pages.
    public let appearance: ClientAppearance
    /// True for a client of the app's own developer. The consent page then
    /// has the title "Sign in", and is still shown.
    public let isFirstParty: Bool
    /// Hashes of the client's secrets. Several during a rotation. Empty for a public client without a secret.
    public let secretHashes: [OAuthClientSecretHash]
    /// Scopes that the client may request. A request without a scope gets all of them.
    public let scopes: ScopeSet
    /// True if the scopes `email` and `profile` imply `openid`.
    public let impliesOpenID: Bool
    public let redirectURIs: [RegisteredRedirectURI]
    /// URIs to which a browser may go after the user has signed out.
    public let postLogoutRedirectURIs: [RegisteredRedirectURI]
    public let lifetimes: ClientLifetimes
    /// Seconds since its first exchange in which a refresh token may be exchanged
    /// again. `nil` means the time in `OAuthSettings`.
    public let refreshRetryWindow: Int64?
    /// Largest number of refresh tokens of the client for one account. Above it the oldest token ends.
    public let refreshTokenLimit: Int
    /// Largest age in seconds of the user's sign-in at Apple. `nil` means no bound.
    public let maxAuthenticationAge: Int64?
    /// The `aud` of its access tokens, and the only `resource` that it can name (RFC 8707).
    public let audience: String
    public let accessTokenAlgorithm: TokenAlgorithm
    public let idTokenAlgorithm: TokenAlgorithm
    /// True if the client may use the method `plain` of RFC 7636. It does not protect a
    /// code from a reader of the authorization request.
    public let allowsPlainProofKeys: Bool
    /// Rule for the code challenge in an authorization request.
    public let proofKeyRule: ProofKeyRule
    /// App Check of the token requests. `nil` for a client that does not declare it.
    public let appCheck: AppCheckPolicy?
    /// The `aud` of the identity tokens of Apple that the client may exchange for tokens (RFC 8693). `nil`
    /// for a client whose users sign in only in the browser.
    public let nativeSignInBundleID: ClientID?
    /// True if devices without a browser may request a user's consent (RFC 8628).
    public let allowsDeviceGrant: Bool
    /// True if the client's web app on the home screen of iOS may open the consent page. Any
    /// web view on Apple's platforms may then open it.
    public let allowsHomeScreenApp: Bool
    /// The client's event stream. `nil` without a stream.
    public let events: ClientEvents?

    /// Reads an entry of the configuration by its members, and adds every mistake to the check.
    ///
    /// - Returns: `nil` when a mistake makes the client unusable.
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
        // The following members are checked even after a mistake, so that all mistakes are reported together.
        // The bundle ID is read once for both uses, so that a mistake is reported once.
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
    /// True if App Check judges the token requests of the client.
    public var isJudged: Bool { appCheck.map { $0.mode != .off } ?? false }
}

extension OAuthClient: CustomStringConvertible {
    public var description: String { "client \(id.rawValue)" }
}

/// Rules that follow from a client's kind and its settings.
extension OAuthClient {
    /// True if the client can use refresh tokens. A client that needs `offline_access` cannot use them after
    /// the scope was removed from its configuration.
    public var mayRefresh: Bool { !kind.needsOfflineAccess || scopes.contains(.offlineAccess) }

    public var hasAppFlip: Bool { googleLinking?.appFlip ?? false }

    /// Returns true if the given secret belongs to the client. All secrets are compared, so that the
    /// duration does not reveal which secret matched.
    public func accepts(secret: String) -> Bool {
        var isAccepted = false
        for hash in secretHashes where hash.matches(secret) { isAccepted = true }
        return isAccepted
    }

    /// Returns the requested scopes, with `openid` in front if `email` or `profile`
    /// implies it. Google's examples for native apps omit it (`scope=email profile`), and
    /// without it there is no ID token and no userinfo.
    public func completed(_ requested: ScopeSet) -> ScopeSet {
        guard impliesOpenID, requested.lacksOpenID else { return requested }
        return ScopeSet([.openID]).union(requested)
    }

    /// Returns the part of a granted scope that the client still has. A client's scopes are configuration: a
    /// removed scope is not issued any more, neither for an older code nor by a refresh.
    ///
    /// - Returns: `nil` when no scope remains.
    public func remainingScope(of granted: String) -> String? { scopes.remainder(of: granted) }

    /// Returns the target of a redirect to this URI; `nil` when the client has no such URI.
    public func redirectTarget(for uri: String) -> RedirectTarget? {
        for registered in redirectURIs {
            if let target = registered.target(for: uri) { return target }
        }
        return nil
    }

    /// Returns the target of the redirect after a sign-out. It compares byte for byte, including the port of
    /// a loopback address (OpenID Connect RP-Initiated Logout 1.0 §3).
    func postLogoutTarget(for uri: String) -> RedirectTarget? {
        postLogoutRedirectURIs.first { $0.text.isByteEqual(to: uri) }?.target(for: uri)
    }
}

/// A secret of a client as `siwa client new` prints it, once: `siwa_cs_` and 32 random bytes in base64url.
public struct OAuthClientSecret: Sendable, Confidential {
    public let text: String

    /// - Parameter randomBytes: 32 bytes of a cryptographic generator.
    public init(randomBytes: [UInt8]) {
        precondition(randomBytes.count == 32, "a client secret has 32 random bytes")
        text = "siwa_cs_" + Base64URL.encode(randomBytes)
    }

    /// The hash of the secret, for the configuration.
    public var hash: OAuthClientSecretHash { OAuthClientSecretHash(SHA256Digest.hash(text)) }
}

/// The SHA-256 of a client secret. The secret cannot be found from its hash, because a secret has 256 random
/// bits.
///
/// A slow hash would add no security, and would let any client use up the processor time of the service.
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

    /// The hash of the empty text, for a comparison without a client.
    static let ofNothing = OAuthClientSecretHash(SHA256Digest.hash(""))

    /// The hash as 64 hexadecimal digits, lowercase.
    public var hexadecimal: String { Hexadecimal.encode(digest) }

    /// Returns true if this is the hash of the secret. The duration
    /// does not depend on the position of a difference.
    public func matches(_ secret: String) -> Bool {
        ConstantTime.areEqual(digest, SHA256Digest.hash(secret))
    }
}

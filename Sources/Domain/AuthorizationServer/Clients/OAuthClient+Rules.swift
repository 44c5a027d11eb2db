import Encodings

/// Rules that follow from a client's kind and its settings.
extension OAuthClient {
    /// True if the client can use refresh tokens at all. A client that needs `offline_access` cannot use them
    /// after the scope was removed from its configuration.
    public var mayRefresh: Bool { !kind.needsOfflineAccess || scopes.contains(.offlineAccess) }

    public var hasAppFlip: Bool { googleLinking?.appFlip ?? false }

    /// Returns `true` if the given secret is one of the client's. All are compared, so that the duration does
    /// not reveal which secret matched.
    public func accepts(secret: String) -> Bool {
        var isAccepted = false
        for hash in secretHashes where hash.matches(secret) { isAccepted = true }
        return isAccepted
    }

    /// Returns the requested scopes, with `openid` in front if `email` or `profile` implies it. Google's words
    /// for native apps leave it out (`scope=email profile`), and without it there is no ID token and no
    /// userinfo.
    public func completed(_ requested: ScopeSet) -> ScopeSet {
        guard impliesOpenID, requested.lacksOpenID else { return requested }
        return ScopeSet([.openID]).union(requested)
    }

    /// Returns the part of a granted scope that the client still has. A client's scopes are configuration: a
    /// scope that was removed from it is not issued any more, neither for an older code nor by a refresh.
    ///
    /// - Returns: `nil` when no scope is left.
    public func remainingScope(of granted: String) -> String? { scopes.remainder(of: granted) }

    /// Returns the target of a redirect to this URI, or `nil` when the client has no such URI.
    public func redirectTarget(for uri: String) -> RedirectTarget? {
        for registered in redirectURIs {
            if let target = registered.target(for: uri) { return target }
        }
        return nil
    }

    /// Returns the target of the redirect after a sign-out: byte for byte, also the port of a loopback address
    /// (OpenID Connect RP-Initiated Logout 1.0 §3).
    func postLogoutTarget(for uri: String) -> RedirectTarget? {
        postLogoutRedirectURIs.first { $0.text.isByteEqual(to: uri) }?.target(for: uri)
    }
}

/// Rules that follow from a client's kind.
extension OAuthClient {
    /// True if the client must authenticate with a secret (RFC 6749 §2.1).
    public var isConfidential: Bool {
        switch kind {
        case .googleLinking, .web: true
        case .native: false
        }
    }

    /// True if a refresh token is replaced when it is used. Google expects several valid refresh tokens at
    /// once, so its tokens are not rotated (RFC 9700 §4.14 requires rotation for public clients).
    public var rotatesRefreshTokens: Bool {
        switch kind {
        case .googleLinking: false
        case .web, .native: true
        }
    }

    /// True if the client gets a refresh token only with the scope `offline_access`. Other clients always get
    /// one.
    public var needsOfflineAccess: Bool {
        switch kind {
        case .googleLinking, .native: false
        case .web: true
        }
    }

    /// True if the client can use refresh tokens at all. A client that needs `offline_access` cannot use them
    /// after the scope was removed from its configuration.
    public var mayRefresh: Bool { !needsOfflineAccess || scopes.contains(.offlineAccess) }

    /// True if a user who has agreed once sees no consent page the next time. Every app on the device can
    /// claim a custom scheme or a loopback port, so consent to one app must not count for another (RFC 8252
    /// §8.6). And an attacker could begin a link at Google and send its address to a user: the user's browser
    /// would complete the link to the attacker's Google account. Only the consent page prevents this.
    public var remembersConsent: Bool {
        switch kind {
        // A loopback address is possible in development only, where developers should see the same pages as
        // users later. No code is redeemed without the client's secret.
        case .web: true
        case .googleLinking, .native: false
        }
    }

    /// Settings of Google linking, if the client is Google.
    public var googleLinking: GoogleLinking? {
        guard case .googleLinking(let linking) = kind else { return nil }
        return linking
    }

    public var hasAppFlip: Bool { googleLinking?.appFlip ?? false }

    /// Returns `true` if the given secret is one of the client's. All are compared, so that the duration does
    /// not reveal which secret matched.
    public func accepts(secret: String) -> Bool {
        var isAccepted = false
        for hash in secretHashes where hash.matches(secret) { isAccepted = true }
        return isAccepted
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
}

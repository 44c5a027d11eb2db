/// What follows from a client's kind.
extension OAuthClient {
    /// Whether the client must prove with a secret who it is (RFC 6749 §2.1).
    public var isConfidential: Bool {
        switch kind {
        case .googleLinking, .web: true
        case .native: false
        }
    }

    /// Whether a refresh token is replaced when it is used. Google expects several valid ones at once, so its
    /// are not (RFC 9700 §4.14 asks it of public clients).
    public var rotatesRefreshTokens: Bool {
        switch kind {
        case .googleLinking: false
        case .web, .native: true
        }
    }

    /// Whether the client gets a refresh token with the scope `offline_access` alone. Others always get one.
    public var needsOfflineAccess: Bool {
        switch kind {
        case .googleLinking, .native: false
        case .web: true
        }
    }

    /// Whether the client can use refresh tokens at all. One that needs `offline_access` cannot after that scope
    /// was taken out of its configuration.
    public var mayRefresh: Bool { !needsOfflineAccess || scopes.contains(.offlineAccess) }

    /// Whether a person who has agreed once is not asked again. Every app on the device can claim a custom
    /// scheme or a loopback port, so consent that was given to one must not answer for another (RFC 8252
    /// §8.6). And a link that a stranger has begun at Google would be completed in the browser of any person
    /// who opens its address: the page is all that stands between the person's account and the stranger's.
    public var remembersConsent: Bool {
        switch kind {
        // A loopback address is possible in development only, and a person who develops is to see what people
        // will see later. No code is redeemed without the client's secret.
        case .web: true
        case .googleLinking, .native: false
        }
    }

    /// What is special about Google, if this is Google.
    public var googleLinking: GoogleLinking? {
        guard case .googleLinking(let linking) = kind else { return nil }
        return linking
    }

    public var hasAppFlip: Bool { googleLinking?.appFlip ?? false }

    /// Whether one of the secrets of this client is the given one. All are compared, so that the duration
    /// does not say which one it is.
    public func accepts(secret: String) -> Bool {
        var isAccepted = false
        for hash in secretHashes where hash.matches(secret) { isAccepted = true }
        return isAccepted
    }

    /// The part of a granted scope that the client still has. Its scopes are configuration: one that was taken
    /// out of it is not given any more, neither for an older code nor by a refresh.
    ///
    /// - Returns: `nil` when none is left.
    public func remainingScope(of granted: String) -> String? { scopes.remainder(of: granted) }

    /// Returns the target of a redirect to this URI, or `nil` when the client has no such URI.
    public func redirectTarget(for uri: String) -> RedirectTarget? {
        for registered in redirectURIs {
            if let target = registered.target(for: uri) { return target }
        }
        return nil
    }
}

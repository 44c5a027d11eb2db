/// Checks of the contents and lifetimes of a client's tokens.
extension OAuthCheck {
    mutating func audience(of draft: ClientDraft, default fallback: String) -> String {
        guard let audience = draft.audience else { return fallback }
        // RFC 8707 §2: an absolute URI without a fragment.
        let bytes = Array(audience.utf8)
        let scheme = bytes.prefix { $0 != UInt8(ascii: ":") }
        let isURI =
            bytes.count <= 255 && bytes.allSatisfy(\.isURICharacter) && !bytes.contains(UInt8(ascii: "#"))
            && scheme.first?.isLetter == true && scheme.count + 1 < bytes.count
            && scheme.allSatisfy { $0.isLetter || $0.isDigit || "+-.".utf8.contains($0) }
        if !isURI {
            add(
                .audienceMalformed, at: "oauth.clients.audience",
                "of \(draft.id) must be an absolute URI without a fragment, of at most 255 characters, like "
                    + "https://api.example.com, but is \(audience.debugDescription)")
        }
        return audience
    }

    mutating func algorithm(
        _ name: String?, _ setting: String, of draft: ClientDraft, default fallback: TokenAlgorithm
    ) -> TokenAlgorithm {
        guard let name else { return fallback }
        if let algorithm = TokenAlgorithm(rawValue: name) { return algorithm }
        add(
            .algorithmUnknown, at: "oauth.clients.\(setting)",
            "of \(draft.id) must be ES256 or RS256, but is \(name.debugDescription)")
        return fallback
    }

    mutating func lifetimes(of draft: ClientDraft, kind: ClientKind.Name) -> ClientLifetimes {
        var lifetimes = ClientLifetimes.defaults(for: kind)
        if let value = seconds(
            draft.codeLifetime, "code_lifetime", of: draft, in: ClientLifetimes.codeBounds)
        {
            lifetimes.code = value
        }
        if let value = seconds(
            draft.accessTokenLifetime, "access_token_lifetime", of: draft,
            in: ClientLifetimes.accessTokenBounds)
        {
            lifetimes.accessToken = value
        }
        if let value = seconds(
            draft.refreshTokenIdleLifetime, "refresh_token_idle_lifetime", of: draft,
            in: ClientLifetimes.refreshTokenBounds)
        {
            lifetimes.refreshTokenIdle = value
        }
        lifetimes.refreshTokenAbsolute = seconds(
            draft.refreshTokenLifetime, "refresh_token_lifetime", of: draft,
            in: ClientLifetimes.refreshTokenBounds)
        return lifetimes
    }

    /// Checks a number of refresh tokens. Each transaction about an account reads all of its refresh tokens,
    /// so the number is bounded.
    mutating func limit(_ value: Int64?, at setting: String, default fallback: Int) -> Int {
        guard let value else { return fallback }
        let bounds = OAuthSettings.refreshTokenLimits
        guard bounds.contains(value) else {
            add(
                .limitOutOfRange, at: setting,
                "must be from \(bounds.lowerBound) to \(bounds.upperBound) refresh tokens, but is \(value)")
            return fallback
        }
        return Int(value)
    }

    mutating func seconds(
        _ value: Int64?, _ setting: String, of draft: ClientDraft, in bounds: ClosedRange<Int64>
    ) -> Int64? {
        guard let value else { return nil }
        guard bounds.contains(value) else {
            add(
                .lifetimeOutOfRange, at: "oauth.clients.\(setting)",
                "of \(draft.id) must be from \(bounds.lowerBound) to \(bounds.upperBound) seconds, but is \(value)"
            )
            return nil
        }
        return value
    }
}

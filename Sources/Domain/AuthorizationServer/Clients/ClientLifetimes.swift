/// Lifetimes of a client's codes and tokens, in seconds. Their bounds and defaults are in `ClientMember` and
/// `ClientKind`.
public struct ClientLifetimes: Sendable, Hashable {
    /// Lifetime of an authorization code (RFC 6749 §4.1.2: at most ten minutes).
    public let code: Int64
    /// Lifetime of an access token. A resource server that does not use introspection accepts the token for
    /// this long, even after the grant has ended.
    public let accessToken: Int64
    /// Lifetime of a refresh token, counted from its last use. `nil` means that it does not expire.
    public let refreshTokenIdle: Int64?
    /// Lifetime of a refresh token and all its successors, counted from the code's redemption. `nil` means
    /// that they do not expire.
    public let refreshTokenAbsolute: Int64?

    public init(
        code: Int64, accessToken: Int64, refreshTokenIdle: Int64?, refreshTokenAbsolute: Int64?
    ) {
        self.code = code
        self.accessToken = accessToken
        self.refreshTokenIdle = refreshTokenIdle
        self.refreshTokenAbsolute = refreshTokenAbsolute
    }
}

/// Checks for a client's token contents and lifetimes.
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

    mutating func algorithm(_ member: ClientMember, of draft: ClientDraft) -> TokenAlgorithm? {
        guard let name = member.value.word(in: draft) else { return nil }
        if let algorithm = TokenAlgorithm(rawValue: name) { return algorithm }
        add(
            .algorithmUnknown, at: "oauth.clients.\(member.name)",
            "of \(draft.id) must be ES256 or RS256, but is \(name.debugDescription)")
        return nil
    }

    mutating func lifetimes(of draft: ClientDraft, kind: ClientKind) -> ClientLifetimes {
        ClientLifetimes(
            code: number(.codeLifetime, of: draft), accessToken: number(.accessTokenLifetime, of: draft),
            refreshTokenIdle: seconds(.refreshTokenIdleLifetime, of: draft) ?? kind.refreshTokenIdleLifetime,
            refreshTokenAbsolute: seconds(.refreshTokenLifetime, of: draft))
    }
}

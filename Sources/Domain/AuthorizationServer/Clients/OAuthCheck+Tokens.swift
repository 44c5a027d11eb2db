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

/// Checks of a client's picture and links.
extension OAuthCheck {
    mutating func appearance(of draft: ClientDraft) -> ClientAppearance {
        ClientAppearance(
            logo: logo(of: draft),
            policyURI: link(draft.policyURI, at: "oauth.clients.policy_uri", of: draft),
            termsURI: link(draft.termsURI, at: "oauth.clients.terms_uri", of: draft))
    }

    private mutating func logo(of draft: ClientDraft) -> ClientLogo? {
        guard let file = draft.logoFile else { return nil }
        let setting = "oauth.clients.logo_file"
        guard let bytes = context.logos[file] else {
            add(
                .logoUnreadable, at: setting,
                "of \(draft.id) must be a file that the service can read, but \(file.debugDescription) cannot be read"
            )
            return nil
        }
        guard let logo = ClientLogo(bytes) else {
            add(
                .logoRefused, at: setting,
                "of \(draft.id) must be a PNG of at most \(ClientLogo.longestSide) pixels a side, or an SVG of shapes "
                    + "and gradients without scripts, styles, links, text and comments, of at most "
                    + "\(ClientLogo.mostBytes) bytes; \(file.debugDescription) is none")
            return nil
        }
        return logo
    }

    /// A link on a page for users. Another scheme could be a script.
    private mutating func link(_ text: String?, at setting: String, of draft: ClientDraft) -> String? {
        guard let text else { return nil }
        let start = "https://"
        let host = text.dropFirst(start.count).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard text.hasPrefix(start), text.utf8.count <= 512, text.utf8.allSatisfy(\.isURICharacter),
            host.utf8.contains(UInt8(ascii: ".")), !host.utf8.contains(UInt8(ascii: "@"))
        else {
            add(
                .linkMalformed, at: setting,
                "of \(draft.id) must be an https URL of at most 512 characters, like https://example.com/privacy, but "
                    + "is \(text.debugDescription)")
            return nil
        }
        return text
    }
}

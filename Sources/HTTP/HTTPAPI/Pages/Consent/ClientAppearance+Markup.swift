import AuthorizationServer

extension ClientAppearance {
    /// The picture; empty without one. Its text would repeat the name that follows.
    var logoMarkup: String {
        logo.map { "<img class=\"logo\" alt=\"\" width=\"48\" height=\"48\" src=\"\($0.dataURL)\">\n" } ?? ""
    }

    /// Returns a paragraph with the links; empty without any.
    func linksMarkup(of name: String, _ language: PageLanguage) -> String {
        let texts = ConnectionsTexts.of(language)
        let links = [(texts.policy, policyURI), (texts.terms, termsURI)].compactMap { text, address in
            address.map { Markup.link(.text(text), to: $0).html }
        }
        guard !links.isEmpty else { return "" }
        return "<p class=\"note\">\(Markup.value(name).html): \(links.joined(separator: " · "))</p>\n"
    }
}

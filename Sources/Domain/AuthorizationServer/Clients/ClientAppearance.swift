import Encodings

/// A client's logo and links, as the user-facing pages show them.
public struct ClientAppearance: Sendable, Hashable {
    public let logo: ClientLogo?
    /// The `https` URL of the client's privacy policy (`policy_uri` in RFC 7591 §2).
    public let policyURI: String?
    /// The `https` URL of the client's terms of service (`tos_uri` in RFC 7591 §2).
    public let termsURI: String?

    public init(logo: ClientLogo? = nil, policyURI: String? = nil, termsURI: String? = nil) {
        (self.logo, self.policyURI, self.termsURI) = (logo, policyURI, termsURI)
    }
}

/// A client's logo. The initializer checks that the file is a picture and nothing else.
///
/// Pages embed the logo as an image with a `data:` URL. Browsers run no scripts in such an image and load no
/// other resources for it, but the SVG check does not rely on this.
public struct ClientLogo: Sendable, Hashable {
    /// Maximum size in bytes. It is limited because each of the client's pages embeds the logo.
    public static let mostBytes = 32_768
    /// Maximum width and height of a PNG in pixels, limited because the browser decodes the whole picture.
    public static let longestSide = 1024

    /// `data:image/png;base64,…` or `data:image/svg+xml;base64,…`
    public let dataURL: String

    /// Returns `nil` for a file above the limits, and for a file that is neither a PNG nor an SVG made only
    /// of the accepted elements.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count <= Self.mostBytes else { return nil }
        let type: String
        if Self.isPNG(bytes) {
            type = "image/png"
        } else if let text = String(validating: bytes, as: UTF8.self), Self.isSafeSVG(text) {
            type = "image/svg+xml"
        } else {
            return nil
        }
        dataURL = "data:\(type);base64,\(Base64.encode(bytes))"
    }

    /// Returns true if the bytes begin with the PNG signature and an IHDR chunk that declares an accepted
    /// size (PNG 3rd edition, §5.2 and §11.2.1).
    private static func isPNG(_ bytes: [UInt8]) -> Bool {
        let start: [UInt8] = [137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82]
        guard bytes.count > 33, bytes.starts(with: start) else { return false }
        return [16, 20].allSatisfy { offset in
            let side = bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) }
            return (1...longestSide).contains(side)
        }
    }

    private static let elements: Set<Substring> = [
        "svg", "g", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "title", "desc",
        "defs", "linearGradient", "radialGradient", "stop", "clipPath", "mask",
    ]

    /// Returns true if all elements are harmless, such as shapes and gradients, and no attribute refers to
    /// another resource. Scripts, event handlers, styles, links, entities and comments are refused.
    private static func isSafeSVG(_ text: String) -> Bool {
        var rest = text.drop(while: \.isWhitespace)
        if rest.hasPrefix("<?xml ") {
            guard let end = rest.firstRange(of: "?>") else { return false }
            rest = rest[end.upperBound...].drop(while: \.isWhitespace)
        }
        guard rest.hasPrefix("<svg") else { return false }
        while let open = rest.firstIndex(of: "<") {
            let tag = rest[rest.index(after: open)...].prefix { $0 != ">" }
            guard tag.endIndex < rest.endIndex, isSafe(tag: tag) else { return false }
            rest = rest[rest.index(after: tag.endIndex)...]
        }
        return rest.allSatisfy(\.isWhitespace)
    }

    /// - Parameter tag: The text between `<` and the next `>`.
    private static func isSafe(tag: Substring) -> Bool {
        let body = tag.hasPrefix("/") ? tag.dropFirst() : tag
        let name = body.prefix { !$0.isWhitespace && $0 != "/" }
        guard elements.contains(name), !body.contains("&"), !body.contains("\\") else { return false }
        // A ">" inside a value would hide the attributes after it from this check.
        var quote: Character?
        for character in body where character == quote || quote == nil && "\"'".contains(character) {
            quote = quote == nil ? character : nil
        }
        guard quote == nil else { return false }
        let words = body.lowercased()
        // "url(#id)" refers to a part of the same picture, so it is harmless.
        guard !words.replacing("url(#", with: "").contains("url("),
            !["href", "style", "javascript:", "data:", "@import", "<"].contains(where: { words.contains($0) })
        else { return false }
        return !words.contains(/[\s"'\/]on[a-z]+\s*=/)
    }
}

/// Checks for a client's logo and links.
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

    /// Reads a link for the user-facing pages. Only `https` is accepted, because a link with another scheme
    /// could run a script.
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

/// The destination of the response to one request: a redirect URI that was found among the registered URIs.
///
/// Only a match makes a target, so that nothing can be sent to a URI that was not checked.
public struct RedirectTarget: Sendable, Hashable {
    /// The URI as the request had it, with its port. The token request must repeat these bytes.
    public let text: String
    public let form: RegisteredRedirectURI.Form

    init(text: String, form: RegisteredRedirectURI.Form) {
        self.text = text
        self.form = form
    }

    /// True if the response goes to a program on this computer.
    public var isLoopback: Bool { form == .loopback }

    /// Source that `form-action` of a Content-Security-Policy must name, or Chromium blocks the redirect that
    /// follows a form (CSP Level 3 §2.3.1): the origin, or the scheme where there is no origin.
    public var formActionSource: String {
        let bytes = Array(text.utf8)
        let scheme = bytes.prefix { $0 != UInt8(ascii: ":") }
        let rest = bytes.dropFirst(scheme.count)
        let authority = rest.dropFirst(3).prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        // A custom scheme has no host, and a host source cannot be an IPv6 address.
        let hasSource = rest.starts(with: "://".utf8) && authority.first != UInt8(ascii: "[")
        return String(
            decoding: hasSource ? scheme + "://".utf8 + authority : scheme + ":".utf8, as: UTF8.self)
    }

    /// The browser's destination, in short and for users: a host with its port, or the scheme of an app.
    public var destination: String {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return text }
        let rest = text.utf8[text.utf8.index(after: colon)...]
        // Only text directly after the scheme is a host. A path can contain another URI.
        guard rest.starts(with: "//".utf8) else { return String(text[..<colon]) }
        let host = rest.dropFirst(2).prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        return String(Substring(host))
    }
}

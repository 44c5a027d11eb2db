import Testing

/// A change of a redirect URI that some comparison, parser or browser lets pass (RFC 9700 §4.1).
struct RedirectURITrick: Sendable, CustomTestStringConvertible {
    let name: String
    let change: @Sendable (String) -> String

    var testDescription: String { name }

    private init(_ name: String, _ change: @escaping @Sendable (String) -> String) {
        (self.name, self.change) = (name, change)
    }

    private init(_ name: String, _ old: String, _ new: String) {
        self.init(name) { $0.replacing(old, with: new) }
    }

    static let all = appended + ofPath + ofHost + ofScheme

    private static let appended = [
        RedirectURITrick("prefix: a longer path") { $0 + "/more" },
        RedirectURITrick("prefix: the last character is missing") { String($0.dropLast()) },
        RedirectURITrick("suffix: another text before it") { "https://evil.example/?" + $0 },
        RedirectURITrick("added query") { $0 + "?x=1" },
        RedirectURITrick("added parameter") { $0 + "&x=1" },
        RedirectURITrick("fragment") { $0 + "#x" },
        RedirectURITrick("empty fragment") { $0 + "#" },
        RedirectURITrick("trailing slash") { $0 + "/" },
        RedirectURITrick("trailing dot") { $0 + "." },
        RedirectURITrick("trailing escaped space") { $0 + "%20" },
        RedirectURITrick("trailing space") { $0 + " " },
        RedirectURITrick("leading space") { " " + $0 },
        RedirectURITrick("end of a C string") { $0 + "\u{0}" },
        RedirectURITrick("header field") { $0 + "\r\nX: y" },
        RedirectURITrick("all in capitals") { $0.uppercased() },
    ]

    private static let ofPath = [
        RedirectURITrick("encoded slash", "/cb", "%2Fcb"),
        RedirectURITrick("encoded dot", ".", "%2E"),
        RedirectURITrick("encoded letter", "/cb", "/%63b"),
        RedirectURITrick("backslash before the path", "/cb", "\\cb"),
        RedirectURITrick("dot segment", "/cb", "/./cb"),
        RedirectURITrick("two dots", "/cb", "/x/../cb"),
        RedirectURITrick("letter case of the path", "/cb", "/CB"),
        RedirectURITrick("slash of Unicode", "/cb", "\u{2215}cb"),
    ]

    private static let ofHost = [
        RedirectURITrick("userinfo before the host", "://", "://user@"),
        RedirectURITrick("userinfo that looks like the host", ".com", ".com@evil.example"),
        RedirectURITrick("suffix of the host", ".com", ".com.evil.example"),
        RedirectURITrick("letter case of the host", "example", "EXAMPLE"),
        RedirectURITrick("trailing dot of the host", ".com", ".com."),
        RedirectURITrick("default port spelled out", ".com", ".com:443"),
        RedirectURITrick("port on a host that is not loopback", ".com", ".com:8443"),
        RedirectURITrick("full stop of Unicode", ".", "\u{3002}"),
        RedirectURITrick("Unicode host", "e", "\u{435}"),
        RedirectURITrick("localhost", "127.0.0.1", "localhost"),
        RedirectURITrick("loopback in short", "127.0.0.1", "127.1"),
        RedirectURITrick("loopback as a number", "127.0.0.1", "2130706433"),
        RedirectURITrick("loopback as a name", "127.0.0.1", "127.0.0.1.evil.example"),
        RedirectURITrick("loopback as a user", "127.0.0.1", "127.0.0.1@evil.example"),
        RedirectURITrick("loopback of IPv4 in IPv6", "[::1]", "[::ffff:127.0.0.1]"),
        RedirectURITrick("loopback with a zone", "[::1]", "[::1%25lo]"),
    ]

    private static let ofScheme = [
        RedirectURITrick("http for https", "https", "http"),
        RedirectURITrick("https for http", "http://1", "https://1"),
        RedirectURITrick("three slashes", "://", ":///"),
        RedirectURITrick("backslashes for slashes", "://", ":\\\\"),
        RedirectURITrick("no scheme", "https:", ""),
        RedirectURITrick("two slashes after a custom scheme", ":/", "://"),
    ]
}

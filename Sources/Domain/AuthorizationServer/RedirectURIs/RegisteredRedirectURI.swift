import Encodings

/// A redirect URI that a client may use, from the configuration or from Google's rules.
///
/// A URI of a request matches when it has the same bytes. Nothing is decoded, normalized or completed before
/// the comparison, because every such step can lead to a URI that is not registered (RFC 9700 §4.1.3).
public struct RegisteredRedirectURI: Sendable, Hashable {
    public enum Form: String, Sendable, Hashable, CaseIterable {
        /// `https`: the host belongs to the client.
        case claimedHTTPS = "https"
        /// A reverse domain name as the scheme (RFC 8252 §7.1).
        case customScheme = "custom_scheme"
        /// `http://127.0.0.1` or `http://[::1]`, on any port (RFC 8252 §7.3), and `http://localhost` where it is
        /// allowed.
        case loopback
        /// Google's URI for linking in the browser.
        case googleProject = "google_project"
        /// Google's URI for linking in the app.
        case appFlip = "app_flip"
    }

    public let text: String
    public let form: Form

    /// Largest number of characters.
    public static let longest = 1024

    init(text: String, form: Form) {
        self.text = text
        self.form = form
    }

    /// Returns the target of a redirect when the URI of a request is this URI: byte for byte, except the port
    /// of a loopback address, which a native app takes from the free ports.
    public func target(for uri: String) -> RedirectTarget? {
        let isMatch =
            form == .loopback
            ? LoopbackAddress(uri)?.isEqualButForPort(to: LoopbackAddress(text)) ?? false
            : text.isByteEqual(to: uri)
        return isMatch ? RedirectTarget(text: uri, form: form) : nil
    }
}

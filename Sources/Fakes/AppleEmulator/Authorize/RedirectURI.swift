import EmulatorServer

/// Checks the redirect URIs that a team registers.
///
/// Apple accepts only https with a domain name. The emulator also accepts http on this machine, because a
/// service in development has no certificate. This is the only difference.
enum RedirectURI {
    /// Throws `.redirectURIRefused`.
    static func check(_ uri: String) throws(EmulatorError) {
        let isHTTPS = uri.hasPrefix("https://")
        guard uri.utf8.count <= 2048, isHTTPS || uri.hasPrefix("http://"),
            uri.utf8.allSatisfy({
                $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") && $0 != UInt8(ascii: "\\")
            })
        else {
            throw EmulatorError(.redirectURIRefused, detail: "an http(s) URL without a fragment")
        }
        let authority = uri.dropFirst(isHTTPS ? 8 : 7).prefix { $0 != "/" && $0 != "?" }
        let host =
            authority.hasPrefix("[")
            ? String(authority.prefix { $0 != "]" }) + "]"
            : String(authority.prefix { $0 != ":" })
        guard !host.isEmpty, !authority.contains("@") else {
            throw EmulatorError(.redirectURIRefused, detail: "no host, or user information before it")
        }
        if ["localhost", "127.0.0.1", "[::1]"].contains(host) { return }
        let isAddress = host.hasPrefix("[") || host.allSatisfy { $0.isNumber || $0 == "." }
        guard isHTTPS, !isAddress else {
            throw EmulatorError(.redirectURIRefused, detail: "https with a domain name, or this machine")
        }
    }
}

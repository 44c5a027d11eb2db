import WebOrigins

/// The identifier of an authorization server (RFC 8414 §2), and the URLs of its metadata.
package struct IssuerURL: Sendable, Equatable {
    /// Text as given. It is compared byte by byte with the metadata and with `iss`.
    let text: String
    /// Host with its port, for names of files and for messages.
    let host: String
    /// True for a server in development: http on this machine.
    let isLocal: Bool
    private let origin: String
    private let path: String

    /// Throws `.optionMalformed` for anything but an https URL without query and fragment. http is allowed on
    /// loopback only: elsewhere tokens would be readable on the network.
    package init(_ text: String) throws(LoginError) {
        guard let address = WebAddress(text), address.query == nil else {
            throw LoginError(
                .optionMalformed,
                "--issuer must be an https URL without query and fragment, as the server's metadata has it")
        }
        guard address.isSecure || address.isLoopback else {
            throw LoginError(
                .optionMalformed, "--issuer must be an https URL; http is only for a server on this machine")
        }
        self.text = text
        isLocal = !address.isSecure
        path = address.path
        origin = String(text.dropLast(address.path.count))
        host = String(origin.drop { $0 != ":" }.dropFirst(3))
    }

    /// URLs in the order of the attempts: RFC 8414 §3.1 inserts its suffix between host and path, OpenID
    /// Connect Discovery §4 appends its suffix.
    var metadataURLs: [String] {
        let path = path.hasSuffix("/") ? String(path.dropLast()) : path
        return [
            "\(origin)/.well-known/oauth-authorization-server\(path)",
            "\(origin)\(path)/.well-known/openid-configuration",
        ]
    }
}

import AppleAccounts
import AuthorizationServer
import Cryptography
import Encodings
import OAuth
import Pages

/// An example authorization request for a client: the link to open, and the commands that exchange its code.
struct AuthorizeLink: Sendable {
    /// The example verifier from RFC 7636, appendix B. It is public, so it protects nothing, and operators
    /// have no reason to use the link for real users.
    static let exampleVerifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"

    let url: String
    let redirectURI: String
    /// A notice about a loopback redirect URI without a port; `nil` for any other redirect URI.
    let note: String?
    /// Shell commands that exchange the link's code.
    let exchange: String

    /// Returns a link for each redirect URI. Loopback URIs come first, so that in development the first link
    /// of Google's client leads to the fake Google. Its other URIs lead to the real Google.
    static func all(of client: OAuthClient, issuer: Issuer) -> [AuthorizeLink] {
        let uris = client.redirectURIs.map(\.text)
        return (uris.filter(isOfThisMachine) + uris.filter { !isOfThisMachine($0) })
            .map { AuthorizeLink(client, redirectURI: $0, issuer: issuer) }
    }

    private init(_ client: OAuthClient, redirectURI registered: String, issuer: Issuer) {
        let (redirectURI, note) = Self.reachable(registered, of: client)
        (self.redirectURI, self.note) = (redirectURI, note)
        let hasProofKey = client.googleLinking == nil
        var parameters = [
            ("response_type", "code"), ("client_id", client.id.rawValue), ("redirect_uri", redirectURI),
            ("scope", client.scopes.text), ("state", "example-state"),
        ]
        if client.scopes.contains(.openID) { parameters.append(("nonce", "example-nonce")) }
        if hasProofKey {
            let challenge = Base64URL.encode(SHA256Digest.hash(Self.exampleVerifier).bytes)
            parameters += [("code_challenge", challenge), ("code_challenge_method", "S256")]
        }
        url = issuer.url("\(AuthorizeUseCase.path)?\(FormEncoding.encode(parameters))")
        var lines = [
            "curl \(issuer.url("/oauth/token"))", "--data-urlencode grant_type=authorization_code",
            "--data-urlencode code=CODE",
            "--data-urlencode \(ShellText.quoted("redirect_uri=\(redirectURI)"))",
        ]
        if client.kind.isConfidential {
            lines.insert("--user \(ShellText.quoted("\(client.id.rawValue):SECRET"))", at: 1)
        } else {
            lines.append("--data-urlencode client_id=\(client.id.rawValue)")
        }
        if hasProofKey { lines.append("--data-urlencode code_verifier=\(Self.exampleVerifier)") }
        exchange = lines.joined(separator: " \\\n  ")
    }

    /// - Parameter number: The number that makes the copy buttons' element IDs unique on the page.
    func html(number: Int) -> HTML {
        HTML {
            "<h3>To <code>\(redirectURI)</code></h3>"
            note.map { "<p class=\"muted\">\($0)</p>" as HTML }
            """
            <p><a class="button" href="\(url)" rel="noreferrer">Open</a> \
            \(HTML.copyButton(for: "authorize-\(number)", "Copy the link"))</p>
            """
            Details("The link, and the exchange of its code") {
                CodeBlock("Link \(number)", url, id: "authorize-\(number)")
                CodeBlock("Exchange \(number)", exchange, id: "exchange-\(number)")
                "<p>\(HTML.copyButton(for: "exchange-\(number)", "Copy the exchange"))</p>"
            }
        }
    }

    private static func isOfThisMachine(_ uri: String) -> Bool {
        WebAddress(uri).map { $0.isLoopback } ?? false
    }

    /// Returns a redirect URI that a program can listen on. In a request, the port of a loopback URI may
    /// differ from the registered port (RFC 8252 §7.3). Nothing listens at a URI without a port, so the link
    /// uses a post-logout redirect URI with the same host and path and with a port, if the client has one.
    private static func reachable(_ uri: String, of client: OAuthClient) -> (uri: String, note: String?) {
        guard let address = WebAddress(uri), address.isLoopback, address.port == nil else {
            return (uri, nil)
        }
        let other = client.postLogoutRedirectURIs.map(\.text).first { text in
            WebAddress(text).map { $0.port != nil && $0.host == address.host && $0.path == address.path }
                ?? false
        }
        if let other {
            return (other, "The port is free to choose; this is that of the page after a sign-out.")
        }
        return (
            uri,
            "An app chooses the port. Here nothing listens, so the browser shows an error; the code is in its "
                + "address bar."
        )
    }
}

import AppleAccounts
import AuthorizationServer
import Cryptography
import Encodings
import OAuth

/// An authorization request of a client, ready to be opened, with the proof key that belongs to it.
struct AuthorizeLink: Sendable {
    /// The verifier of RFC 7636, appendix B. An example that is printed in an RFC protects nothing, so that no
    /// operator uses the link for real users.
    static let exampleVerifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"

    let url: String
    let verifier: String
    let hasProofKey: Bool
    /// Exchanges the code of the link.
    let exchange: String

    /// Returns `nil` for a client without redirect URI.
    init?(_ client: OAuthClient, issuer: Issuer) {
        guard let redirectURI = client.redirectURIs.first?.text else { return nil }
        hasProofKey = client.googleLinking == nil
        verifier = Self.exampleVerifier
        var parameters = [
            ("response_type", "code"), ("client_id", client.id.rawValue), ("redirect_uri", redirectURI),
            ("scope", client.scopes.text), ("state", "example-state"),
        ]
        if client.scopes.contains(.openID) { parameters.append(("nonce", "example-nonce")) }
        if hasProofKey {
            let challenge = Base64URL.encode(SHA256Digest.hash(Self.exampleVerifier).bytes)
            parameters += [("code_challenge", challenge), ("code_challenge_method", "S256")]
        }
        let query = parameters.map { "\($0)=\(Self.encoded($1))" }.joined(separator: "&")
        url = issuer.url("\(AuthorizeUseCase.path)?\(query)")
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
        if hasProofKey { lines.append("--data-urlencode code_verifier=\(verifier)") }
        exchange = lines.joined(separator: " \\\n  ")
    }

    /// Percent-encodes all bytes except unreserved ones (RFC 3986 §2.3).
    private static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            unreserved.contains(byte)
                ? String(UnicodeScalar(byte)) : "%" + Hexadecimal.encode([byte]).uppercased()
        }.joined()
    }

    private static let unreserved = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
}

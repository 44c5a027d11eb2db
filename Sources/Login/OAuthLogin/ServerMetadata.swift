import Encodings
import StrictJSON

/// The server metadata members that `siwa login` uses. They have passed its checks (RFC 8414 §2, OpenID
/// Connect Discovery §3).
struct ServerMetadata: Sendable, Equatable {
    let authorizationEndpoint: String
    let tokenEndpoint: String
    let revocationEndpoint: String?
    /// The device authorization endpoint (RFC 8628 §4); `nil` for a server without the device grant.
    let deviceAuthorizationEndpoint: String?
    let keySetURL: String?
    /// True if every authorization response contains `iss` (RFC 9207 §3), so that `siwa login` refuses a
    /// response without `iss`.
    let promisesIssuer: Bool
    /// Client authentication methods; `nil` if the metadata lists none.
    let authenticationMethods: [String]?

    /// Reads the metadata. Throws `.metadataUnusable`, `.issuerMismatch` or `.serverUnsuitable`.
    init(parsing body: [UInt8], of issuer: IssuerURL) throws(LoginError) {
        let json: JSONValue
        do throws(JSONError) {
            json = try JSONValue(parsing: body, limits: JSONLimits(depth: 16, members: 256))
        } catch {
            throw LoginError(.metadataUnusable, "the metadata of \(issuer.text) is not a JSON object")
        }
        let named = json["issuer"]?.string ?? ""
        // Without this check, a server could send the user to another server and receive that server's codes
        // (RFC 8414 §6.2).
        guard named.isByteEqual(to: issuer.text) else {
            throw LoginError(
                .issuerMismatch,
                "the metadata must name the issuer \(issuer.text), but it names \(named.forTerminal()); give --issuer exactly as the server writes it"
            )
        }
        guard let authorization = try Self.endpoint("authorization_endpoint", of: json, issuer),
            let token = try Self.endpoint("token_endpoint", of: json, issuer)
        else {
            throw LoginError(
                .metadataUnusable,
                "the metadata of \(issuer.text) has no authorization_endpoint or no token_endpoint")
        }
        (authorizationEndpoint, tokenEndpoint) = (authorization, token)
        revocationEndpoint = try Self.endpoint("revocation_endpoint", of: json, issuer)
        deviceAuthorizationEndpoint = try Self.endpoint("device_authorization_endpoint", of: json, issuer)
        keySetURL = try Self.endpoint("jwks_uri", of: json, issuer)
        promisesIssuer = json["authorization_response_iss_parameter_supported"]?.bool ?? false
        authenticationMethods = Self.words("token_endpoint_auth_methods_supported", of: json)
        // A server that does not list its methods may still support S256. If it does not, it ignores the
        // parameter, and the sign-in works without PKCE protection.
        if let methods = Self.words("code_challenge_methods_supported", of: json), !methods.contains("S256") {
            throw LoginError(
                .serverUnsuitable, "\(issuer.text) does not offer PKCE with S256, which siwa login needs")
        }
        if let types = Self.words("response_types_supported", of: json), !types.contains("code") {
            throw LoginError(
                .serverUnsuitable,
                "\(issuer.text) does not offer the response type code, which siwa login needs")
        }
    }

    /// Returns an endpoint; `nil` if the member is absent. Throws `.metadataUnusable` if the URL is not safe
    /// for secrets.
    private static func endpoint(
        _ name: String, of json: JSONValue, _ issuer: IssuerURL
    ) throws(LoginError) -> String? {
        guard let member = json[name] else { return nil }
        guard let text = member.string, let address = WebAddress(text),
            address.isSecure || (issuer.isLocal && address.isLoopback)
        else {
            throw LoginError(
                .metadataUnusable, "\(name) in the metadata of \(issuer.text) must be an https URL")
        }
        return text
    }

    private static func words(_ name: String, of json: JSONValue) -> [String]? {
        json[name]?.array?.compactMap(\.string)
    }
}

/// An authorization server's issuer identifier (RFC 8414 §2), and its metadata URLs.
package struct IssuerURL: Sendable, Equatable {
    /// The issuer as given. It is compared byte by byte with the metadata and with `iss`.
    let text: String
    /// Host with its port, for file names and messages.
    let host: String
    /// True for a development server, which uses http on this machine.
    let isLocal: Bool
    private let origin: String
    private let path: String

    /// Reads the issuer. Throws `.optionMalformed` for anything except an https URL without query and
    /// fragment. Allows http only on loopback, because elsewhere anyone on the network could read the tokens.
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

    /// URLs in the order to try them. RFC 8414 §3.1 inserts its suffix between host and path, while OpenID
    /// Connect Discovery §4 appends its suffix.
    var metadataURLs: [String] {
        let path = path.hasSuffix("/") ? String(path.dropLast()) : path
        return [
            "\(origin)/.well-known/oauth-authorization-server\(path)",
            "\(origin)\(path)/.well-known/openid-configuration",
        ]
    }
}

import Encodings

/// Authenticates a request's client (RFC 6749 §2.3 and §3.2.1).
public struct ClientAuthentication: Sendable {
    let clients: ClientRegistry

    public init(_ clients: ClientRegistry) {
        self.clients = clients
    }

    /// Returns the client, or throws `invalid_client`.
    ///
    /// The duration does not reveal whether the client exists, because the secret is hashed in any case.
    public func authenticate(_ credentials: ClientCredentials) throws(TokenEndpointError) -> OAuthClient {
        let usedBasic = credentials.method == .basic
        guard let client = clients[credentials.clientID] else {
            _ = credentials.secret.map(OAuthClientSecretHash.ofNothing.matches)
            throw TokenEndpointError(
                OAuthError(.invalidClient, "Client ID or secret is wrong; check both."), usedBasic: usedBasic)
        }
        guard let secret = credentials.secret else {
            guard client.secretHashes.isEmpty, !client.kind.isConfidential else {
                throw TokenEndpointError(
                    OAuthError(.invalidClient, "This client must authenticate; send its secret."),
                    usedBasic: usedBasic)
            }
            return client
        }
        // This public client has no secret, so a developer who sends one misunderstands its protection. The
        // response may name the mistake, because there is no secret to guess and client IDs are public.
        guard client.kind.isConfidential || !client.secretHashes.isEmpty else {
            throw TokenEndpointError(
                OAuthError(.invalidClient, "This client has no secret; leave it out."), usedBasic: usedBasic)
        }
        guard client.accepts(secret: secret) else {
            throw TokenEndpointError(
                OAuthError(.invalidClient, "Client ID or secret is wrong; check both."), usedBasic: usedBasic,
                guessedClient: client.id)
        }
        return client
    }
}

/// A client's unchecked credentials at the token, revocation or introspection endpoint (RFC 6749 §2.3).
public struct ClientCredentials: Sendable, Confidential {
    public enum Method: String, Sendable, Hashable, CaseIterable {
        /// `client_id` without a secret.
        case none
        /// `client_id` and `client_secret` in the body.
        case body = "client_secret_post"
        case basic = "client_secret_basic"
    }

    public let method: Method
    /// The client ID in the request. The client may not exist.
    public let clientID: String
    let secret: String?

    /// Reads HTTP Basic credentials, for requests without parameters.
    init(_ basic: BasicCredentials) {
        (method, clientID, secret) = (.basic, basic.clientID, basic.secret)
    }

    /// Reads the credentials from the parameters and the `Authorization` header.
    ///
    /// Throws `invalid_request` if the request uses two authentication methods at once. Throws
    /// `invalid_client` if it uses no method or an unsupported method.
    init(_ reader: ParameterReader, authorization: String?) throws(TokenEndpointError) {
        do throws(OAuthError) {
            let clientID = try reader.text(.clientID)
            let secret = try reader.text(.clientSecret)
            let assertion = try reader.text(.clientAssertion)
            guard try reader.text(.clientAssertionType) == nil, assertion == nil else {
                throw OAuthError(
                    .invalidClient, "Client assertions are not supported; send the client secret.")
            }
            if let authorization {
                guard let basic = BasicCredentials(authorization) else {
                    throw OAuthError(
                        .invalidClient,
                        "The field Authorization must be HTTP Basic with client ID and secret.")
                }
                guard secret == nil else {
                    throw OAuthError(
                        .invalidRequest,
                        "The client authenticates twice; send the secret by HTTP Basic or as a parameter.")
                }
                guard clientID.map({ $0.isByteEqual(to: basic.clientID) }) ?? true else {
                    throw OAuthError(
                        .invalidRequest, "HTTP Basic and client_id name two clients; send one client ID.")
                }
                (method, self.clientID, self.secret) = (.basic, basic.clientID, basic.secret)
                return
            }
            guard let clientID else {
                throw OAuthError(.invalidClient, "The request names no client; send client_id.")
            }
            (method, self.clientID, self.secret) = (secret == nil ? .none : .body, clientID, secret)
        } catch {
            throw TokenEndpointError(error, usedBasic: authorization != nil)
        }
    }
}

/// Client ID and secret in HTTP Basic (RFC 7617). Both are form-encoded before the Base64 encoding (RFC 6749
/// §2.3.1).
public struct BasicCredentials: Sendable, Confidential {
    /// The client ID. For introspection it can also be the name of an API key.
    public let clientID: String
    /// The secret. `nil` if it is empty, because some libraries send an empty secret for public clients.
    public let secret: String?

    /// Returns `nil` for other schemes and for credentials that cannot be decoded.
    public init?(_ authorization: String) {
        guard authorization.utf8.count <= 1024 else { return nil }
        let bytes = Array(authorization.utf8)
        guard let space = bytes.firstIndex(of: UInt8(ascii: " ")),
            String(decoding: bytes[..<space], as: UTF8.self).lowercased() == "basic",
            // RFC 9110 §11.4 allows one or more spaces here.
            let decoded = Base64.decode(
                String(decoding: bytes[space...].drop { $0 == UInt8(ascii: " ") }, as: UTF8.self)),
            let colon = decoded.firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        // The form encoding escapes any colon, ampersand or equals sign in the ID and the secret.
        guard case .text(let clientID) = Self.decode(decoded[..<colon]) else { return nil }
        switch Self.decode(decoded[(colon + 1)...]) {
        case .text(let text): secret = text
        case .absent: secret = nil
        case .malformed, .repeated: return nil
        }
        self.clientID = clientID
    }

    private static func decode(_ bytes: ArraySlice<UInt8>) -> FormParameters.Value {
        guard !bytes.contains(UInt8(ascii: "&")),
            let form = try? FormParameters(parsing: "v=".utf8 + bytes, as: .form)
        else { return .malformed }
        return form["v"]
    }
}

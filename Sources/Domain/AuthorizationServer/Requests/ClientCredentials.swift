import Encodings

/// The unchecked credentials of a client at the token, revocation or introspection endpoint (RFC 6749 §2.3).
public struct ClientCredentials: Sendable, Confidential {
    public enum Method: String, Sendable, Hashable, CaseIterable {
        /// `client_id` alone.
        case none
        /// `client_id` and `client_secret` among the parameters.
        case body = "client_secret_post"
        case basic = "client_secret_basic"
    }

    public let method: Method
    /// The client ID as sent. The client may not exist.
    public let clientID: String
    let secret: String?

    /// The credentials in HTTP Basic, for requests without parameters.
    init(_ basic: BasicCredentials) {
        (method, clientID, secret) = (.basic, basic.clientID, basic.secret)
    }

    /// Reads the parameters and the field `Authorization`.
    ///
    /// Throws `invalid_request` for two methods at once, and `invalid_client` without a method and for a
    /// method that is not supported.
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

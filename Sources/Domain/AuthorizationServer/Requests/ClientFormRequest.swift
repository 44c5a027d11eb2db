/// A form that a client has posted to an endpoint. The client is not authenticated yet.
public struct ClientForm: Sendable, Confidential {
    public let credentials: ClientCredentials
    let reader: ParameterReader
}

/// A request from a client that authenticates itself.
public protocol ClientRequest: Sendable {
    /// The result of the authentication: the client, together with the endpoint's parsed request.
    associatedtype Authenticated: Sendable

    var credentials: ClientCredentials { get }

    /// Authenticates the client, and then checks the request. The caller limits the rate of wrong guesses.
    func authenticated(in clients: ClientRegistry) throws(TokenEndpointError) -> Authenticated
}

/// A form request to an endpoint that requires every client to authenticate itself.
public protocol ClientFormRequest: ClientRequest {
    var form: ClientForm { get }

    init(_ form: ClientForm)
}

extension ClientFormRequest {
    public var credentials: ClientCredentials { form.credentials }

    /// Reads the form. Throws `invalid_request`, or `invalid_client` if the request names no client.
    ///
    /// - Parameters:
    ///   - contentType: The `Content-Type` header.
    ///   - authorization: The `Authorization` header.
    ///   - query: The request target's query.
    public init(
        body: some Collection<UInt8>, contentType: String?, authorization: String?,
        query: (some Collection<UInt8>)?
    ) throws(TokenEndpointError) {
        let reader = try EndpointForm.read(body, contentType: contentType, query: query)
        let credentials = try ClientCredentials(reader, authorization: authorization)
        self.init(ClientForm(credentials: credentials, reader: reader))
    }
}

/// The body of a request to the token, revocation or introspection endpoint.
public enum EndpointForm {
    /// Reads a form (RFC 6749 §3.2). Any fault in it throws `invalid_request`.
    ///
    /// - Parameters:
    ///   - contentType: The `Content-Type` header.
    ///   - query: The request target's query.
    static func read(_ body: some Collection<UInt8>, contentType: String?, query: (some Collection<UInt8>)?)
        throws(TokenEndpointError) -> ParameterReader
    {
        // A query is refused, because URLs end up in logs and histories, along with any secrets and tokens in
        // them (RFC 6749 §2.3.1, RFC 9700 §4.3.2).
        if let query, !query.isEmpty {
            throw TokenEndpointError(
                .invalidRequest, "The request has parameters in its URL; send all of them in the body.")
        }
        guard isForm(contentType) else {
            throw TokenEndpointError(
                .invalidRequest, "The Content-Type must be application/x-www-form-urlencoded.")
        }
        let parameters: FormParameters
        do throws(FormParameters.TooMany) {
            parameters = try FormParameters(parsing: body, as: .form)
        } catch {
            throw TokenEndpointError(
                .invalidRequest,
                "The form has more than \(FormParameters.mostParameters) parameters or "
                    + "\(FormParameters.mostBytes) bytes; shorten it.")
        }
        let reader = ParameterReader(parameters)
        // Repeated parameters are refused even if this request does not use them (RFC 6749 §3.2). RFC 8707
        // allows several `resource` parameters, and RFC 8693 several `audience` parameters.
        for name in parameters.repeatedNames {
            guard let parameter = RequestParameter(rawValue: name), parameter != .resource,
                parameter != .audience
            else { continue }
            throw TokenEndpointError(reader.refusal(parameter, "is repeated; send it once"))
        }
        return reader
    }

    /// Maximum number of bytes to read from the header, because it can be as long as all headers together.
    private static let longestType = 128

    /// Returns true for a form's media type, ignoring case and media type parameters (RFC 9110 §8.3.1).
    public static func isForm(_ contentType: String?) -> Bool {
        let type = (contentType ?? "").utf8.prefix(longestType).prefix { $0 != UInt8(ascii: ";") }
        let trimmed = type.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
        return String(decoding: trimmed, as: UTF8.self).lowercased() == "application/x-www-form-urlencoded"
    }
}

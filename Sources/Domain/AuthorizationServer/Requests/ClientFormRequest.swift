/// A form that a client has posted to an endpoint. The client is not authenticated.
public struct ClientForm: Sendable, Confidential {
    public let credentials: ClientCredentials
    let reader: ParameterReader
}

/// A request to an endpoint of which each client authenticates itself.
///
/// The caller checks `credentials` first, and slows down guesses.
public protocol ClientFormRequest: Sendable {
    var form: ClientForm { get }

    init(_ form: ClientForm)
}

extension ClientFormRequest {
    public var credentials: ClientCredentials { form.credentials }

    /// Throws `invalid_request`, or `invalid_client` when no client is named.
    ///
    /// - Parameters:
    ///   - contentType: The field `Content-Type`.
    ///   - authorization: The field `Authorization`.
    ///   - query: The query of the request's target.
    public init(
        body: some Collection<UInt8>, contentType: String?, authorization: String?,
        query: (some Collection<UInt8>)?
    ) throws(TokenEndpointError) {
        let reader = try EndpointForm.read(body, contentType: contentType, query: query)
        let credentials = try ClientCredentials(reader, authorization: authorization)
        self.init(ClientForm(credentials: credentials, reader: reader))
    }
}

/// A request to `/oauth/app-attest/challenges` or `/oauth/app-attest/keys`: a native client without a backend
/// prepares its proofs of App Attest.
///
/// The caller authenticates the client first, and then reads the parameters of the endpoint.
public struct AppAttestRequest: ClientFormRequest, Confidential {
    public let form: ClientForm

    /// An attestation of a new key. Its content is not verified.
    public struct Attestation: Sendable, Confidential {
        public let keyID: String
        /// The attestation object in base64.
        public let object: String
        public let challenge: String
    }

    public init(_ form: ClientForm) { self.form = form }

    /// Authenticates the client. Throws `unauthorized_client` for a client that is not an app on a device.
    public func authenticated(in clients: ClientRegistry) throws(TokenEndpointError) -> OAuthClient {
        let client = try ClientAuthentication(clients).authenticate(credentials)
        guard ClientMember.appCheck.hasMeaning(for: client.kind) else {
            throw TokenEndpointError(.notForAppAttest)
        }
        return client
    }

    /// The parameter `purpose` of a request for a challenge.
    public func purpose() throws(OAuthError) -> String { try form.reader.required(.purpose) }

    /// Reads the parameters of a request that registers a key.
    public func attestation() throws(OAuthError) -> Attestation {
        Attestation(
            keyID: try form.reader.required(.keyID), object: try form.reader.required(.attestation),
            challenge: try form.reader.required(.challenge))
    }
}

extension OAuthError {
    /// The error for a client whose requests are not judged, and which needs no key.
    public static let notForAppAttest = OAuthError(
        .unauthorizedClient,
        "App Attest is only for clients of kind native whose app_check is monitored or enforced.")
}

/// A request to `/oauth/nonce`: a native client without a backend gets a nonce for a sign-in with Apple.
public struct NonceRequest: ClientFormRequest {
    public let form: ClientForm

    public init(_ form: ClientForm) { self.form = form }

    /// Authenticates the client. Throws `unauthorized_client` for a client that cannot use the nonce.
    public func authenticated(in clients: ClientRegistry) throws(TokenEndpointError) -> OAuthClient {
        let client = try ClientAuthentication(clients).authenticate(credentials)
        guard GrantType.tokenExchange.isOffered(client) else {
            throw TokenEndpointError(
                .unauthorizedClient, "Nonces are only for \(GrantType.tokenExchange.clients).")
        }
        return client
    }
}

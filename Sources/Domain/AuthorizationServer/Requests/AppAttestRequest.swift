/// A request to `/oauth/app-attest/challenges` or `/oauth/app-attest/keys`, from a native client without a
/// backend, which prepares its App Attest proofs.
///
/// The caller first authenticates the client, and then reads the endpoint's parameters.
public struct AppAttestRequest: ClientFormRequest, Confidential {
    public let form: ClientForm

    /// The attestation of a new key, with unverified content.
    public struct Attestation: Sendable, Confidential {
        public let keyID: String
        /// The attestation object, base64-encoded.
        public let object: String
        public let challenge: String
    }

    public init(_ form: ClientForm) { self.form = form }

    /// Authenticates the client. Throws `unauthorized_client` unless the client is an app on a device.
    public func authenticated(in clients: ClientRegistry) throws(TokenEndpointError) -> OAuthClient {
        let client = try ClientAuthentication(clients).authenticate(credentials)
        guard ClientMember.appCheck.hasMeaning(for: client.kind) else {
            throw TokenEndpointError(.notForAppAttest)
        }
        return client
    }

    /// Returns the `purpose` of a challenge request.
    public func purpose() throws(OAuthError) -> String { try form.reader.required(.purpose) }

    /// Reads the parameters of a key registration request.
    public func attestation() throws(OAuthError) -> Attestation {
        Attestation(
            keyID: try form.reader.required(.keyID), object: try form.reader.required(.attestation),
            challenge: try form.reader.required(.challenge))
    }
}

extension OAuthError {
    /// The error for a client that needs no key, because its requests are not subject to App Check.
    public static let notForAppAttest = OAuthError(
        .unauthorizedClient,
        "App Attest is only for clients of kind native whose app_check is monitored or enforced.")
}

/// A request to `/oauth/nonce`: a native client without a backend gets a nonce for a sign-in with Apple.
public struct NonceRequest: ClientFormRequest {
    public let form: ClientForm

    public init(_ form: ClientForm) { self.form = form }

    /// Authenticates the client. Throws `unauthorized_client` if the client has no use for a nonce.
    public func authenticated(in clients: ClientRegistry) throws(TokenEndpointError) -> OAuthClient {
        let client = try ClientAuthentication(clients).authenticate(credentials)
        guard GrantType.tokenExchange.isOffered(client) else {
            throw TokenEndpointError(
                .unauthorizedClient, "Nonces are only for \(GrantType.tokenExchange.clients).")
        }
        return client
    }
}

import AppAttestation
import AppleAccounts
public import AuthorizationServer
public import Commits
public import SignIn
import Synchronization

/// Handles App Attest for native clients without a backend: makes challenges and registers keys without an
/// API key.
///
/// Keys belong to the app, so the app itself and a backend with an API key register the same keys.
public struct ClientAttestation: Sendable {
    private let server: OAuthServer

    public init(_ server: OAuthServer) {
        self.server = server
    }

    /// Makes a challenge for the client's app. Stores nothing.
    ///
    /// - Throws: `OAuthError` if the purpose is unknown, or App Check is off for the client.
    public func challenge(
        for purpose: String, of client: OAuthClient
    ) throws(OAuthError) -> AppAttestChallenge {
        let (checks, policy) = try judged(client)
        guard let purpose = AppAttestChallenge.Purpose(rawValue: purpose) else {
            throw OAuthError(.invalidRequest, "The purpose must be attestation or assertion.")
        }
        return checks.mintChallenge(purpose, by: policy)
    }

    /// Verifies an attestation, and returns the command that registers the key.
    ///
    /// - Parameter address: The client's address; `nil` if it is unknown.
    /// - Throws: `OAuthError`, also from the commit; `RequestsPaused` after too many registrations.
    public func registerKey(
        _ attestation: AppAttestRequest.Attestation, of client: OAuthClient, from address: RequesterAddress?
    ) throws -> Step<KeyRegistration> {
        let (checks, policy) = try judged(client)
        let now = server.now()
        // The request is counted before its verification, because verifying a flood of requests would be
        // expensive.
        let pause = server.registrations.withLock { $0.admit(address, for: policy.appID, at: now) }
        if let pause { throw RequestsPaused(cause: .registrations, seconds: pause) }
        let request = KeyRegistrationRequest(
            attestation: attestation.object, keyID: attestation.keyID, challenge: attestation.challenge,
            clientID: policy.appID.bundleID)
        return try Step.mappingErrors(Self.oauthError) {
            try checks.registerKey(request, by: policy).map { [server] registration in
                if registration.isNew {
                    server.registrations.withLock { $0.registered(keyOf: policy.appID, at: now) }
                }
                return registration
            }
        }
    }

    /// Returns App Check with the policy for the client.
    private func judged(_ client: OAuthClient) throws(OAuthError) -> (AppChecks, AppCheckPolicy) {
        guard let checks = server.dependencies.signIn.appChecks,
            let policy = checks.policies.ofOAuthClient(client.id.rawValue), policy.mode != .off
        else { throw OAuthError.notForAppAttest }
        return (checks, policy)
    }

    /// Maps refusals to OAuth errors. Returns any other error unchanged.
    @Sendable private static func oauthError(_ error: any Error) -> any Error {
        switch error {
        case let refusal as AppCheckRefusal: OAuthError(refusal)
        case let refusal as AccountRefusal where refusal.code == .attestationKeysFull:
            // Maintenance deletes unused keys, so there will be room for new keys later.
            OAuthError(.temporarilyUnavailable, "The app has as many keys as it can have.", retryAfter: 3600)
        default: error
        }
    }
}

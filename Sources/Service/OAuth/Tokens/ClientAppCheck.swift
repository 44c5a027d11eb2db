import AppAttestation
import AppleAccounts
import AuthorizationServer
import Cryptography
import SignIn

/// App Check of a native client: judges the app of a token request. The proof vouches for all other parameters
/// of the request, so that it cannot move to another request.
struct ClientAppCheck: Sendable {
    let server: OAuthServer

    /// Uses the proof up, before the grant is looked at: a request that is refused here changes no code and no
    /// token.
    ///
    /// - Throws: `OAuthError` `invalid_client` in enforced mode; `StorageError`, `OverloadedError`.
    func check(_ request: TokenRequest) async throws {
        guard let checks = server.dependencies.signIn.appChecks,
            let policy = checks.policies.ofOAuthClient(request.client.id.rawValue)
        else { return }
        let proof = request.app.proof
        let evidence = AppEvidence(
            proof: proof.map { proof in
                guard proof.requestDigest != nil else { return .malformed }
                return PostedProof(
                    keyID: proof.keyID, assertion: proof.assertion, clientData: proof.clientData)
            }, appVersion: request.app.appVersion)
        do {
            _ = try await checks.check(
                evidence, by: policy,
                vouchingFor: proof?.requestDigest ?? SHA256Digest.hash(""))
        } catch let refusal as AppCheckRefusal {
            throw OAuthError(refusal)
        }
    }
}

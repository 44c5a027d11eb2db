import AppleAccounts
import AuthorizationServer
import Commits
import HTTPEngine
import NIOHTTP1
import OAuth
import SignIn
import StrictJSON

/// App Attest of native clients without a backend.
extension OAuthTokenRoutes {
    /// `POST /oauth/app-attest/challenges`
    func mintChallenge(_ request: HTTPRequest) throws -> RouteResult {
        let (body, client) = try appAttestRequest(request)
        let challenge = try ClientAttestation(server).challenge(for: try body.purpose(), of: client)
        let left = challenge.expiresAt.milliseconds - server.dependencies.now().milliseconds
        var json = JSONWriter(reservingCapacity: 192)
        json.beginObject()
        json.member("challenge", challenge.text)
        json.member("expires_in", (left + 999) / 1000)
        json.endObject()
        return .response(.oauth(.created, json.bytes))
    }

    /// `POST /oauth/app-attest/keys`
    func registerKey(_ request: HTTPRequest) throws -> RouteResult {
        // Checked before the verification, which would be wasted.
        try server.dependencies.signIn.commits.requireCapacity()
        let (body, client) = try appAttestRequest(request)
        let pending = try ClientAttestation(server).registerKey(
            try body.attestation(), of: client, from: request.oauth?.address)
        return .commit(pending) { registration in
            .oauth(registration.isNew ? .created : .ok, registration.json)
        }
    }

    private func appAttestRequest(_ request: HTTPRequest) throws -> (AppAttestRequest, OAuthClient) {
        let body = try AppAttestRequest(
            body: request.body, contentType: request.oauth?.contentType,
            authorization: request.oauth?.authorization, query: request.query?.utf8)
        let client = try authentication(body.credentials, request) { () throws(TokenEndpointError) in
            try body.client(in: server.dependencies.settings.clients)
        }
        return (body, client)
    }
}

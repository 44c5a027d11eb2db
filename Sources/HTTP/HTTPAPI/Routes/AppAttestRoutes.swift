import AppAttestation
import AppleAccounts
import Commits
import HTTPEngine
import NIOHTTP1
import SignIn
import StrictJSON

/// The routes of App Attest: challenges, and keys.
final class AppAttestRoutes: Sendable {
    private let checks: AppChecks

    init(checks: AppChecks) {
        self.checks = checks
    }

    /// `POST /v1/app-attest/challenges`
    func mintChallenge(_ request: HTTPRequest) throws -> RouteResult {
        let body = try ChallengeRequest(parsing: request.body)
        let challenge = try checks.mintChallenge(body.purpose, for: body.clientID, allowed: request.scope)
        var json = JSONWriter(reservingCapacity: 192)
        json.beginObject()
        json.member("challenge", challenge.text)
        json.member("expires_at", challenge.expiresAt.rfc3339)
        json.endObject()
        return .response(.json(.created, json.bytes))
    }

    /// `POST /v1/app-attest/keys`
    func registerKey(_ request: HTTPRequest) throws -> RouteResult {
        // Checked before the verification, which would be wasted.
        try checks.commits.requireCapacity()
        let body = try KeyRegistrationRequest(parsing: request.body)
        return .commit(try checks.registerKey(body, allowed: request.scope)) { .registered($0) }
    }

    /// `GET /v1/app-attest/keys/{key_id}`
    func showKey(_ request: HTTPRequest) throws -> RouteResult {
        _ = try Query(parsing: request.query, allowing: [])
        guard let id = AttestedKeyID(inPath: request.parameter ?? "") else {
            throw Problem(.attestedKeyNotFound)
        }
        return .later { [checks] in
            guard let key = try await checks.attestedKey(id, allowed: request.scope) else {
                throw Problem(.attestedKeyNotFound)
            }
            return .attestedKey(key)
        }
    }
}

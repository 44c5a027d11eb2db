import AppAttestation
import AppleAccounts
import AuthorizationServer
import Commits
import HTTPEngine
import NIOHTTP1
import SignIn
import StrictJSON

/// The route that returns the App Check counts.
final class AppCheckRoutes: Sendable {
    private let deployment: Deployment
    private let policies: AppCheckPolicies
    private let oauthClients: [OAuthClient]
    private let store: any AppCheckHourStore
    /// Returns the current time in milliseconds since 1970.
    private let now: @Sendable () -> Int64

    init(
        deployment: Deployment, policies: AppCheckPolicies, oauthClients: [OAuthClient],
        store: any AppCheckHourStore, now: @escaping @Sendable () -> Int64
    ) {
        (self.deployment, self.policies, self.oauthClients) = (deployment, policies, oauthClients)
        (self.store, self.now) = (store, now)
    }

    /// Handles `GET /v1/apps/{client_id}/app-check`.
    func show(_ request: HTTPRequest) throws -> Step<HTTPResponse> {
        _ = try Query(request, of: .getAppCheck)
        guard let app = ClientID(request.parameter ?? "").flatMap({ deployment.app(for: $0) }),
            request.scope.allows(app)
        else { throw Problem(.clientIDUnknown) }
        let coverage = AppCheckCoverage(of: app, policies, oauthClients: oauthClients)
        let policies = policies.of(bundleIDs: Set(app.clientIDs.map(\.rawValue)))
        let first = AppCheckHour.beginning(of: now() / 1000) - AppCheckHour.kept
        return .later { [store] in
            let hours = try await store.appCheckHours(of: policies.map(\.target), from: first)
            let byTarget = Dictionary(grouping: hours, by: \.target)
            let report = AppCheckReport(
                app: app,
                targets: policies.map { .init(policy: $0, hours: byTarget[$0.target] ?? []) },
                clients: coverage.clients)
            return .json(.ok, report, reservingCapacity: 256 + 384 * policies.count + 128 * hours.count)
        }
    }
}

/// The App Attest routes, for challenges and keys.
final class AppAttestRoutes: Sendable {
    private let checks: AppChecks

    init(checks: AppChecks) {
        self.checks = checks
    }

    /// Handles `POST /v1/app-attest/challenges`.
    func mintChallenge(_ request: HTTPRequest) throws -> Step<HTTPResponse> {
        let body = try ChallengeRequest(parsing: request.body)
        let challenge = try checks.mintChallenge(body.purpose, for: body.clientID, allowed: request.scope)
        return .now(.json(.created, challenge))
    }

    /// Handles `POST /v1/app-attest/keys`.
    func registerKey(_ request: HTTPRequest) throws -> Step<HTTPResponse> {
        // Checks the capacity first, because a verification that cannot be committed would be wasted work.
        try checks.commits.requireCapacity()
        let body = try KeyRegistrationRequest(parsing: request.body)
        return try checks.registerKey(body, allowed: request.scope).map {
            .json($0.isNew ? .created : .ok, $0)
        }
    }

    /// Handles `GET /v1/app-attest/keys/{key_id}`.
    func showKey(_ request: HTTPRequest) throws -> Step<HTTPResponse> {
        _ = try Query(request, of: .getAttestedKey)
        guard let id = AttestedKeyID(inPath: request.parameter ?? "") else {
            throw Problem(.attestedKeyNotFound)
        }
        return .later { [checks] in
            guard let key = try await checks.attestedKey(id, allowed: request.scope) else {
                throw Problem(.attestedKeyNotFound)
            }
            return .json(.ok, StoredKeyResponse(key: key))
        }
    }
}

import AppleAccounts
import Commits
import HTTPEngine
import KeySets
import NIOCore
import NIOHTTP1
import SignIn
import StrictJSON
import Synchronization

/// The routes for operators.
final class OperationsRoutes: Sendable {
    private let keys: any VerificationKeys
    private let store: any AccountStore
    private let registry: MetricsRegistry
    private let version: String
    private let warnings: ServiceWarnings
    private let draining: Draining
    private let description: ByteBuffer
    /// OpenAPI documents by version. Tests start hundreds of services in one process, and a debug build needs
    /// 0.1 s for a document.
    private static let descriptions = Mutex<[String: ByteBuffer]>([:])

    init(
        keys: any VerificationKeys, store: any AccountStore, registry: MetricsRegistry, version: String,
        warnings: ServiceWarnings, draining: Draining
    ) {
        (self.keys, self.store, self.registry, self.version) = (keys, store, registry, version)
        (self.warnings, self.draining) = (warnings, draining)
        description = Self.descriptions.withLock { made in
            let description = made[version] ?? ByteBuffer(string: OpenAPIDocument.text(version: version))
            made[version] = description
            return description
        }
    }

    /// Handles `GET /livez`: reports that the process is running.
    func live() -> Step<HTTPResponse> {
        .now(Self.alive)
    }

    /// The liveness response. A process that responds is alive.
    static var alive: HTTPResponse { document(LivenessStatus()) }

    /// Returns a JSON response that contains no user data.
    private static func document(_ body: some JSONBody, _ status: HTTPResponseStatus = .ok) -> HTTPResponse {
        HTTPResponse(status: status, contentType: "application/json", body: body.json())
    }

    /// Handles `GET /readyz`: reports that the database accepts commands and that the service has usable
    /// keys. A service with a stale key set is ready, because the keys can still verify tokens. A service
    /// with warnings is ready, and lists them in the response. A service that is about to stop is not ready.
    func ready() -> Step<HTTPResponse> {
        .later { [self] in
            if draining.hasBegun { throw Problem(.stopping) }
            let health = await look()
            if let error = health.storage { throw Self.problem(error.problem, cause: error.code.rawValue) }
            if case .unavailable(let cause) = health.keys.status {
                // Until the first fetch ends, there is no failure, so the cause is `not_fetched`.
                let cause = cause?.rawValue ?? "not_fetched"
                throw Self.problem(KeySetError(.keysUnavailable).problem, cause: cause)
            }
            return Self.document(Readiness(warnings: warnings.current))
        }
    }

    /// Handles `GET /health`: returns the same state in more detail. The response contains no secrets.
    func health() -> Step<HTTPResponse> {
        .later { [self] in
            let health = await look()
            let body = Health(
                version: version, storage: health.storage?.code, keys: health.keys, warnings: warnings.current
            )
            return Self.document(body, body.isReady ? .ok : .serviceUnavailable)
        }
    }

    /// Handles `GET /version`.
    func versionResponse() -> Step<HTTPResponse> {
        .now(Self.document(Version(version: version)))
    }

    /// Handles `GET /metrics`: requires a key that is not limited to some apps, because the metrics cover the
    /// whole deployment.
    func metrics(_ request: HTTPRequest) throws -> Step<HTTPResponse> {
        guard case .all = request.scope else { throw Problem(.callerForbidden) }
        return .now(
            HTTPResponse(
                status: .ok, contentType: "text/plain; version=0.0.4; charset=utf-8", body: registry.text()))
    }

    /// Handles `GET /openapi.yaml`: returns the OpenAPI 3.1 document of this API.
    func openAPI() -> Step<HTTPResponse> {
        var response = HTTPResponse(status: .ok, contentType: "application/yaml", body: [])
        response.sharedBody = description
        return .now(response)
    }

    private func look() async -> (storage: StorageError?, keys: KeySetHealth) {
        do {
            try await store.checkHealth()
            return (nil, keys.health)
        } catch {
            return (error as? StorageError ?? StorageError(.unavailable, detail: ""), keys.health)
        }
    }

    private static func problem(_ problem: Problem, cause: String) -> Problem {
        var problem = problem
        problem.cause = cause
        return problem
    }
}

/// Records that the process is about to stop. `GET /readyz` then responds with 503, so that load balancers
/// send new requests to other replicas. The process still serves all requests.
final class Draining: Sendable {
    private let mark = Atomic(false)

    var hasBegun: Bool { mark.load(ordering: .relaxed) }

    func begin() { mark.store(true, ordering: .relaxed) }
}

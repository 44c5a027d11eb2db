import HTTPEngine

/// The calls of operators.
extension Endpoint {
    static let checkLiveness = Endpoint(
        "checkLiveness", .get, "/livez", of: \.operations, caller: .anyone, body: .none, errors: .problem,
        priority: .operations
    ) { family, _ in family.live() }

    static let checkReadiness = Endpoint(
        "checkReadiness", .get, "/readyz", of: \.operations, caller: .anyone, body: .none, errors: .problem,
        priority: .operations
    ) { family, _ in family.ready() }

    static let getHealth = Endpoint(
        "getHealth", .get, "/health", of: \.operations, caller: .anyone, body: .none, errors: .problem,
        priority: .operations
    ) { family, _ in family.health() }

    static let getVersion = Endpoint(
        "getVersion", .get, "/version", of: \.operations, caller: .anyone, body: .none, errors: .problem,
        priority: .operations
    ) { family, _ in family.versionResponse() }

    /// Needs a key: the metrics show the number of sign-ins, on the port that faces the internet.
    static let getMetrics = Endpoint(
        "getMetrics", .get, "/metrics", of: \.operations, caller: .metricsReader, body: .none,
        errors: .problem, priority: .operations
    ) { try $0.metrics($1) }

    static let getOpenAPI = Endpoint(
        "getOpenAPI", .get, "/openapi.yaml", of: \.operations, caller: .anyone, body: .none, errors: .problem,
        priority: .ordinary
    ) { family, _ in family.openAPI() }
}

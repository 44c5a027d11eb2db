import HTTPEngine
import StrictJSON

/// Endpoints that operators and their monitoring systems call.
extension Endpoint {
    static let checkLiveness = Endpoint(
        "checkLiveness", .get, "/livez", of: \.operations, caller: .anyone, body: .none, errors: .problem,
        priority: .operations,
        Operation(
            .operations, "Liveness. The process responds.",
            returns: [
                .body(200, "The process is alive.", LivenessStatus.self, example: ["status": "alive"])
            ])
    ) { family, _ in family.live() }

    static let checkReadiness = Endpoint(
        "checkReadiness", .get, "/readyz", of: \.operations, caller: .anyone, body: .none, errors: .problem,
        priority: .operations,
        Operation(
            .operations, "Readiness. The database is usable, and there are verification keys.",
            returns: [
                .body(
                    200, "The service is ready.", Readiness.self,
                    example: ["status": "ready", "warnings": ["sealing_keys_wrong"]])
            ],
            refuses: [503])
    ) { family, _ in family.ready() }

    static let getHealth = Endpoint(
        "getHealth", .get, "/health", of: \.operations, caller: .anyone, body: .none, errors: .problem,
        priority: .operations,
        Operation(
            .operations, "Readiness with details, for operators.",
            returns: [
                .body(
                    200, "The service is ready. A component may have a warning.", Health.self,
                    example: [
                        "status": "ready", "version": "0.1.0", "database": ["status": "ready"],
                        "keys": [
                            "status": "ready", "count": 3, "age_seconds": 12,
                            "fresh_until": "2026-11-21T03:24:03.207Z",
                            "usable_until": "2026-11-28T02:24:03.207Z",
                        ],
                    ]),
                .body(
                    503, "The service is not ready. The components contain the cause.", Health.self,
                    example: [
                        "status": "unavailable", "version": "0.1.0",
                        "database": ["status": "unavailable", "cause": "full"],
                        "keys": [
                            "status": "stale", "warning": "unreachable", "count": 3, "age_seconds": 7300,
                        ],
                    ]),
            ])
    ) { family, _ in family.health() }

    static let getVersion = Endpoint(
        "getVersion", .get, "/version", of: \.operations, caller: .anyone, body: .none, errors: .problem,
        priority: .operations,
        Operation(
            .operations, "Get the name and version of the service.",
            returns: [
                .body(200, "Name and version.", Version.self, example: ["name": "siwa", "version": "0.1.0"])
            ])
    ) { family, _ in family.versionResponse() }

    /// The call requires a key, because the metrics reveal the number of sign-ins and the port is reachable
    /// from the internet.
    static let getMetrics = Endpoint(
        "getMetrics", .get, "/metrics", of: \.operations, caller: .metricsReader, body: .none,
        errors: .problem, priority: .operations,
        Operation(
            .operations,
            """
            Metrics in the Prometheus text format. Needs an API key that is not limited to apps, or the key for \
            the metrics.
            """,
            returns: [
                .body(
                    200, "Exposition format 0.0.4.", ["type": "string"], as: "text/plain",
                    example: """
                        # HELP siwa_event_readers Requests that read or wait for account events.
                        # TYPE siwa_event_readers gauge
                        siwa_event_readers 0
                        """)
            ],
            refuses: [403])
    ) { try $0.metrics($1) }

    static let getOpenAPI = Endpoint(
        "getOpenAPI", .get, "/openapi.yaml", of: \.operations, caller: .anyone, body: .none, errors: .problem,
        priority: .ordinary,
        Operation(
            .operations, "Get this document.",
            returns: [
                .body(
                    200, "OpenAPI 3.1.", ["type": "object", "required": ["openapi", "info", "paths"]],
                    as: "application/yaml",
                    example: [
                        "openapi": "3.1.0", "info": ["title": "siwa", "version": "0.1.0"], "paths": [:],
                    ])
            ])
    ) { family, _ in family.openAPI() }
}

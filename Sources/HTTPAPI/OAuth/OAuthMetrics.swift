import AuthorizationServer
import OAuth

/// Counts what the routes of OAuth do.
struct OAuthMetrics: Sendable {
    enum Grant: String, CaseIterable {
        case authorizationCode = "authorization_code"
        case refreshToken = "refresh_token"
        case jwtBearer = "jwt_bearer"
    }

    enum Result: String, CaseIterable {
        case issued
        /// An answer of streamlined linking without tokens.
        case answered
        case refused
        /// The database or Google's keys were not available, or this service has a bug.
        case failed
    }

    private let tokens: [Grant: [Result: CounterCell]]
    private let introspections: [Bool: CounterCell]
    private let appFlips: [AppFlipOutcome: CounterCell]
    private let events: [GoogleEventReceipt: CounterCell]

    init(_ registry: MetricsRegistry, commits: any GrantCommitting) {
        func cells<Key: Hashable>(_ keys: [Key], _ cell: (Key) -> CounterCell) -> [Key: CounterCell] {
            Dictionary(uniqueKeysWithValues: keys.map { ($0, cell($0)) })
        }
        tokens = Dictionary(
            uniqueKeysWithValues: Grant.allCases.map { grant in
                let cells = cells(Result.allCases) { result in
                    registry.counter(
                        "siwa_oauth_token_requests_total",
                        [("grant", grant.rawValue), ("result", result.rawValue)],
                        help: "Token requests of authenticated clients by grant and result.")
                }
                return (grant, cells)
            })
        introspections = cells([true, false]) { isActive in
            registry.counter(
                "siwa_oauth_introspections_total", [("result", isActive ? "active" : "inactive")],
                help: "Introspections by result.")
        }
        appFlips = cells(AppFlipOutcome.allCases) { outcome in
            registry.counter(
                "siwa_oauth_app_flips_total", [("outcome", outcome.rawValue)],
                help: "App Flip calls with a URL to open by outcome.")
        }
        events = cells(GoogleEventReceipt.allCases) { receipt in
            registry.counter(
                "siwa_google_events_received_total", [("result", receipt.rawValue)],
                help: "Verified security events of Google by result.")
        }
        let queueDepth = registry.gauge(
            "siwa_oauth_queue_depth", help: "Changes of grants that wait for the next transaction.")
        registry.beforeReading { queueDepth.set(Int64(commits.depth)) }
    }

    func count(_ grant: Grant, _ result: Result) { tokens[grant]?[result]?.increment(by: 1) }
    func countIntrospection(isActive: Bool) { introspections[isActive]?.increment(by: 1) }
    func count(_ outcome: AppFlipOutcome) { appFlips[outcome]?.increment(by: 1) }
    func count(_ receipt: GoogleEventReceipt) { events[receipt]?.increment(by: 1) }
}

extension TokenRequest.Grant {
    var metric: OAuthMetrics.Grant {
        switch self {
        case .authorizationCode: .authorizationCode
        case .refreshToken: .refreshToken
        case .assertion: .jwtBearer
        }
    }
}

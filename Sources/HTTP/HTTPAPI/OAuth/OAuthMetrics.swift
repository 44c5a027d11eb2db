import AppleAccounts
import AuthorizationServer
import Commits
import OAuth

/// Counts the results of OAuth routes.
struct OAuthMetrics: Sendable {
    enum Result: String, CaseIterable {
        case issued
        /// The service sent a streamlined linking response without tokens.
        case answered
        case refused
        /// The database or Google's keys were unavailable, or this service has a bug.
        case failed
    }

    private let labels: ClientLabels
    /// Counters for each grant type and each client.
    private let tokens: [String: [String: [Result: CounterCell]]]
    enum DeviceResult: String, CountedCase {
        static let series = CountedSeries(
            "siwa_oauth_device_requests_total", label: "result",
            help: "Device authorization requests of authenticated clients by client and result.")

        case begun
        /// Too many devices are waiting for their users.
        case limitReached = "limit_reached"
    }

    private let devices: ClientCaseCounters<DeviceResult>
    private let introspections: [String: [Bool: CounterCell]]
    private let appFlips: ClientCaseCounters<AppFlipOutcome>
    private let prompts: ClientCaseCounters<PromptStep>
    private let events: [GoogleEventReceipt.Handling: CounterCell]
    private let unmatchedEvents: [GoogleEventKind: CounterCell]

    init(_ registry: MetricsRegistry, commits: GroupCommit<GrantCommand>, labels: ClientLabels) {
        self.labels = labels
        func cells<Key: Hashable>(_ keys: [Key], _ cell: (Key) -> CounterCell) -> [Key: CounterCell] {
            Dictionary(uniqueKeysWithValues: keys.map { ($0, cell($0)) })
        }
        tokens = Dictionary(
            uniqueKeysWithValues: GrantType.all.map { type in
                let clients = labels.all.filter { $0 != ClientLabels.none }.map { client in
                    let cells = cells(Result.allCases) { result in
                        registry.counter(
                            "siwa_oauth_token_requests_total",
                            [("client", client), ("grant", type.label), ("result", result.rawValue)],
                            help: "Token requests of authenticated clients by client, grant and result.")
                    }
                    return (client, cells)
                }
                return (type.name, Dictionary(uniqueKeysWithValues: clients))
            })
        devices = ClientCaseCounters(registry, labels: labels)
        introspections = Dictionary(
            uniqueKeysWithValues: labels.all.map { client in
                let cells = cells([true, false]) { isActive in
                    registry.counter(
                        "siwa_oauth_introspections_total",
                        [("client", client), ("result", isActive ? "active" : "inactive")],
                        help: "Introspections by client and result; without a client by an API key.")
                }
                return (client, cells)
            })
        appFlips = ClientCaseCounters(registry, labels: labels)
        prompts = ClientCaseCounters(registry, labels: labels)
        events = cells(GoogleEventReceipt.Handling.allCases) { handling in
            registry.counter(
                "siwa_google_events_received_total", [("result", handling.rawValue)],
                help: "Verified security events of Google by result.")
        }
        // A verification event names no user, so it cannot be unmatched.
        unmatchedEvents = cells(GoogleEventKind.allCases.filter { $0 != .verification }) { kind in
            registry.counter(
                "siwa_google_events_unmatched_total", [("kind", kind.rawValue)],
                help: "Security events of Google that named no link here by kind.")
        }
        let queueDepth = registry.gauge(
            "siwa_oauth_queue_depth", help: "Changes of grants that wait for the next transaction.")
        registry.beforeReading { queueDepth.set(Int64(commits.depth)) }
    }

    func count(_ type: GrantType, _ result: Result, of client: OAuthClientID) {
        tokens[type.name]?[labels.label(of: client.rawValue)]?[result]?.increment(by: 1)
    }

    func countDevice(_ result: DeviceResult, of client: OAuthClientID) {
        devices.count(result, of: client.rawValue)
    }

    /// - Parameter client: The client that calls introspection; `nil` for a caller with an API key.
    func countIntrospection(isActive: Bool, of client: OAuthClientID?) {
        introspections[labels.label(of: client?.rawValue)]?[isActive]?.increment(by: 1)
    }

    /// - Parameter client: The ID of a configured client; `nil` for a request without a configured client.
    func count(_ outcome: AppFlipOutcome, of client: OAuthClientID?) {
        appFlips.count(outcome, of: client?.rawValue)
    }

    func count(_ prompt: AppFlipPrompt, of client: OAuthClientID?) {
        prompts.count(PromptStep(prompt), of: client?.rawValue)
    }

    func count(_ receipt: GoogleEventReceipt) {
        events[receipt.handling]?.increment(by: 1)
        for kind in receipt.unmatched { unmatchedEvents[kind]?.increment(by: 1) }
    }
}

extension AppFlipOutcome: CountedCase {
    static let series = CountedSeries(
        "siwa_oauth_app_flips_total", label: "outcome",
        help: "App Flip calls with a URL to open by client and outcome.")
}

/// Results of App Flip prompts, used as metric labels. A prompt returns the consent sheet's texts, but no
/// code.
enum PromptStep: CountedCase {
    static let series = CountedSeries(
        "siwa_oauth_app_flip_prompts_total", label: "outcome",
        help: "Prompts of App Flip by client and outcome.")

    static let allCases: [PromptStep] =
        [.prompt] + AppFlipOutcome.allCases.filter { $0 != .code }.map { .refused($0) }

    case prompt
    case refused(AppFlipOutcome)

    init(_ prompt: AppFlipPrompt) {
        self =
            switch prompt {
            case .ask: .prompt
            case .refused(let response, _): .refused(response.outcome)
            }
    }

    init?(rawValue: String) {
        guard let step = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = step
    }

    var rawValue: String {
        switch self {
        case .prompt: "prompt"
        case .refused(let outcome): outcome.rawValue
        }
    }
}

package import AppleIDClient
import AsyncHTTPClient
package import Encodings
import KeySets
import NIOHTTP1
import StrictJSON

/// All `siwa doctor` checks. A check whose failure can explain other failures runs before the other checks.
package struct DoctorChecks: Sendable {
    let configuration: @Sendable () async throws -> ServiceSettings
    let secondsSince1970: @Sendable () -> Int64
    let limits: AppleTimeLimits

    package init(
        environment: [String: String], limits: AppleTimeLimits = AppleTimeLimits(),
        secondsSince1970: @escaping @Sendable () -> Int64 = {
            SystemKeySetClock().millisecondsSince1970 / 1000
        }
    ) {
        configuration = { try await SettingsReader.read(environment: environment) }
        self.limits = limits
        self.secondsSince1970 = secondsSince1970
    }

    /// Creates the checks of a running service's settings.
    init(settings: ServiceSettings, secondsSince1970: @escaping @Sendable () -> Int64) {
        configuration = { settings }
        limits = AppleTimeLimits()
        self.secondsSince1970 = secondsSince1970
    }

    package func run() async -> DoctorReport {
        let settings: ServiceSettings
        do {
            settings = try await configuration()
        } catch let mistakes as ConfigurationMistakes {
            let rest = Finding.skipped("the rest", "needs a configuration without mistakes")
            return DoctorReport(findings: ConfigurationCheck(settings: .failure(mistakes)).run() + [rest])
        } catch {
            return DoctorReport(findings: [
                .wrong(
                    ConfigurationCheck.name, "cannot be read", advice: "Check that SIWA_CONFIG names a file.")
            ])
        }
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: .apple(limits))
        var findings: [Finding] = []
        for check in await checks(of: settings, client: client) { findings += await check.run() }
        try? await client.shutdown()
        return DoctorReport(findings: findings, registrations: Registrations(settings: settings).lines)
    }

    private func checks(of settings: ServiceSettings, client: HTTPClient) async -> [any DoctorCheck] {
        let response = await AppleProbe(endpoints: settings.appleEndpoints, client: client).fetch()
        let now = secondsSince1970()
        let skew = ClockCheck.skew(appleDate: response?.date, ownDate: now)
        return [
            ConfigurationCheck(settings: .success(settings)), CallersCheck(settings: settings),
            AppleReachableCheck(endpoints: settings.appleEndpoints, response: response),
            ClockCheck(appleDate: response?.date, ownDate: now),
            KeySetCheck(source: settings.keySource, response: response), SigningKeyCheck(settings: settings),
            ClientSecretCheck(
                settings: settings, client: client, isReachable: response != nil, skew: skew,
                secondsSince1970: secondsSince1970),
            ServicesIDsCheck(settings: settings, client: client, isReachable: response != nil),
            SealingKeysCheck(settings: settings),
            DatabaseCheck(settings: settings, secondsSince1970: secondsSince1970),
            OAuthClientsCheck(settings: settings), AppCheckClientsCheck(settings: settings),
            GoogleEventsCheck(settings: settings, client: client, secondsSince1970: secondsSince1970),
            PublicURLCheck(settings: settings),
        ]
    }
}

/// One `siwa doctor` check. It changes nothing.
protocol DoctorCheck: Sendable {
    func run() async -> [Finding]
}

/// A finding of a `siwa doctor` check.
package struct Finding: Equatable {
    package enum Verdict: String {
        case good = "ok"
        /// The checked part works, but the finding contains information for the operator.
        case note
        case wrong
        /// The check was skipped because of another error.
        case skipped
    }

    /// The check's name. It is stable across versions, so scripts can use it.
    let check: String
    package let verdict: Verdict
    /// The finding's text. It contains no secrets.
    let text: String
    /// Advice for the operator; `nil` if the finding needs no action.
    let advice: String?

    static func good(_ check: String, _ text: String) -> Finding {
        Finding(check: check, verdict: .good, text: text, advice: nil)
    }

    static func note(_ check: String, _ text: String, advice: String? = nil) -> Finding {
        Finding(check: check, verdict: .note, text: text, advice: advice)
    }

    static func wrong(_ check: String, _ text: String, advice: String) -> Finding {
        Finding(check: check, verdict: .wrong, text: text, advice: advice)
    }

    static func skipped(_ check: String, _ text: String) -> Finding {
        Finding(check: check, verdict: .skipped, text: text, advice: nil)
    }
}

/// The results of `siwa doctor`.
package struct DoctorReport {
    let findings: [Finding]
    /// Values that the operator must register, and where to register them.
    var registrations: [String] = []

    package var isHealthy: Bool { !findings.contains { $0.verdict == .wrong } }

    var text: String { text(in: .plain) }

    package func text(in layout: TextLayout) -> String {
        let width = findings.map(\.check.count).max() ?? 0
        let indent = 2 + 7 + 2 + width + 2
        var lines: [String] = []
        for finding in findings {
            let verdict = Self.padded(finding.verdict.rawValue, to: 7)
            let check = "  \(Self.padded(finding.check, to: width))  "
            lines += layout.row(
                "  \(verdict)\(check)", styled: "  \(layout.styled(verdict, finding.verdict.style))\(check)",
                finding.text)
            for line in finding.advice?.split(separator: "\n") ?? [] {
                lines += layout.beneath(indent, String(line))
            }
        }
        if !registrations.isEmpty {
            lines += ["", "Register, if that is not done yet:"]
            lines += registrations.flatMap { layout.wrapped($0, indent: 2, hanging: 6) }
        }
        return (lines + ["", layout.styled(summary, isHealthy ? .good : .bad)]).joined(separator: "\n")
    }

    package var json: String {
        var json = JSONWriter()
        json.beginObject()
        json.member("healthy", isHealthy)
        json.name("checks")
        json.beginArray()
        for finding in findings {
            json.element()
            json.beginObject()
            json.member("check", finding.check)
            json.member("result", finding.verdict.rawValue)
            json.member("text", finding.text)
            json.member("advice", ifPresent: finding.advice)
            json.endObject()
        }
        json.endArray()
        json.name("register")
        json.beginArray()
        for line in registrations {
            json.element()
            json.value(.string(line))
        }
        json.endArray()
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }

    private var summary: String {
        let wrong = findings.count { $0.verdict == .wrong }
        let skipped = findings.count { $0.verdict == .skipped }
        let after = skipped == 0 ? "" : ", \(skipped) not checked"
        switch wrong {
        case 0: return "Nothing is wrong\(after)."
        case 1: return "One thing is wrong\(after)."
        default: return "\(wrong) things are wrong\(after)."
        }
    }

    private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}

extension Finding.Verdict {
    fileprivate var style: TextLayout.Style {
        switch self {
        case .good: .good
        case .note: .warning
        case .wrong: .bad
        case .skipped: .faint
        }
    }
}

extension HTTPClientRequest {
    /// Adds a `User-Agent` header for `siwa doctor`, so that its requests are distinguishable from requests
    /// by users and by the service. The fake Apple reads the header.
    mutating func nameDoctor() { headers.add(name: "User-Agent", value: "siwa-doctor") }
}

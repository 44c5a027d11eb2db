import AppleAccounts
import Encodings

/// The page of the settings: what is in force and where it comes from, what is to be registered, and what
/// `siwa doctor` finds.
public struct SettingsPages: Sendable {
    private let configuration: ShownConfiguration
    private let doctor: any DoctorFinding

    public init(configuration: ShownConfiguration, doctor: any DoctorFinding) {
        (self.configuration, self.doctor) = (configuration, doctor)
    }

    public var pages: [ConsolePage] {
        [
            // Settings belong to no app.
            ConsolePage(
                .get, "/settings", access: .operatorsOfAllApps,
                entry: ConsolePage.Entry("Settings", order: 90)
            ) {
                [configuration, doctor] request in
                .page(
                    template: "settings", title: "Settings",
                    values: Values(configuration, doctor.findings(), request), isLive: true)
            },
            ConsolePage(.post, "/settings/check", access: .operatorsOfAllApps) { [doctor] _ in
                doctor.checkAgain()
                return .redirect(to: "/settings", notice: "The checks run; their results appear below.")
            },
        ]
    }

    private struct Values: Sendable {
        let csrf: String
        let summary: String
        let summaryClass: String
        let isRunning: Bool
        let hasFindings: Bool
        let findings: [ShownFinding]
        let hasRegistrations: Bool
        let registrations: [ShownRegistration]
        let settings: [ShownSetting]
        let hasUnset: Bool
        let unset: [String]
        let sections: [ShownConfiguration.Section]

        init(_ configuration: ShownConfiguration, _ found: DoctorFindings, _ request: ConsoleRequest) {
            csrf = request.viewer.formToken
            isRunning = found.isRunning
            let wrong = found.wrong.count
            summaryClass = found.checkedAt == nil ? "muted" : wrong == 0 ? "good" : "bad"
            if let checkedAt = found.checkedAt {
                let age = max(0, (request.now.milliseconds - checkedAt.milliseconds) / 1000)
                let result =
                    switch wrong {
                    case 0: "Nothing is wrong"
                    case 1: "One thing is wrong"
                    default: "\(wrong) things are wrong"
                    }
                summary = "\(result), checked \(age) s ago"
            } else {
                summary = "The checks run for the first time"
            }
            findings = found.findings.map(ShownFinding.init)
            registrations = configuration.registrations.enumerated().map {
                ShownRegistration($1, number: $0, found)
            }
            settings = configuration.settings.filter { $0.value != nil }.map(ShownSetting.init)
            unset = configuration.settings.filter { $0.value == nil }.map(\.name)
            sections = configuration.sections
            (hasFindings, hasRegistrations) = (!findings.isEmpty, !registrations.isEmpty)
            hasUnset = !unset.isEmpty
        }
    }

    private struct ShownFinding: Sendable {
        let check: String
        let word: String
        let style: String
        let text: String
        let advice: String?

        init(_ finding: DoctorFindings.Finding) {
            (check, text, advice) = (finding.check, finding.text, finding.advice)
            (word, style) = finding.verdict.shown
        }
    }

    private struct ShownRegistration: Sendable {
        let place: String
        let values: [ShownValue]
        let word: String
        let style: String

        init(_ registration: ShownConfiguration.Registration, number: Int, _ found: DoctorFindings) {
            place = registration.place
            values = registration.values.enumerated().map {
                ShownValue(id: "register-\(number)-\($0)", name: $1.name, value: $1.value)
            }
            let verdict = registration.check.flatMap { found.verdict(of: $0) }
            (word, style) =
                switch verdict {
                case .good?: ("tried, and accepted", "good")
                case .wrong?: ("refused", "bad")
                case .note?: ("see the checks", "warn")
                case .skipped?, nil: ("cannot be tried from here", "muted")
                }
        }
    }

    private struct ShownValue: Sendable {
        /// For the button that copies the value; unique on the page.
        let id: String
        let name: String
        let value: String
    }

    private struct ShownSetting: Sendable {
        let name: String
        let meaning: String
        let value: String
        let source: String
        let style: String

        init(_ setting: ShownConfiguration.Setting) {
            (name, meaning, value) = (setting.name, setting.meaning, setting.value ?? "")
            (source, style) = (setting.source, setting.isDefault ? "muted" : "set")
        }
    }
}

extension DoctorFindings.Verdict {
    /// The word and the class of the style sheet.
    var shown: (word: String, style: String) {
        switch self {
        case .good: ("ok", "good")
        case .note: ("note", "warn")
        case .wrong: ("wrong", "bad")
        case .skipped: ("not checked", "muted")
        }
    }
}

public import AppleAccounts
import Encodings

/// The page of the settings: what is in force and where it comes from, what is to be registered, and what
/// `siwa doctor` finds.
public struct SettingsPages: Sendable {
    private let configuration: ShownConfiguration
    private let doctor: any DoctorFinding
    private let inbox: any InboxStore

    /// - Parameter inbox: Has the notifications that Apple sent, which prove that its endpoint is registered.
    public init(
        configuration: ShownConfiguration, doctor: any DoctorFinding, inbox: any InboxStore
    ) {
        (self.configuration, self.doctor, self.inbox) = (configuration, doctor, inbox)
    }

    public var pages: [ConsolePage] {
        [
            // Settings belong to no app.
            ConsolePage(
                .get, "/settings", access: .operatorsOfAllApps,
                entry: ConsolePage.Entry("Settings", order: 90)
            ) {
                request in
                .template(
                    "settings", title: "Settings",
                    values: Values(
                        configuration, doctor.findings(), notified: await notified(), request),
                    isLive: true)
            },
            ConsolePage(.post, "/settings/check", access: .operatorsOfAllApps) { [doctor] _ in
                doctor.checkAgain()
                return .redirect(to: "/settings", notice: "The checks run; their results appear below.")
            },
        ]
    }

    /// Number of notifications in which each app is looked for.
    private static let mostNotifications = 100

    /// The newest kept notifications of all apps. `nil` without the database.
    private func notified() async -> InboxPage? {
        guard configuration.registrations.contains(where: { $0.notifiedApp != nil }) else { return nil }
        return try? await inbox.notifications(
            before: nil, limit: Self.mostNotifications, visibleTo: .all)
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

        init(
            _ configuration: ShownConfiguration, _ found: DoctorFindings, notified: InboxPage?,
            _ request: ConsoleRequest
        ) {
            csrf = request.viewer.formToken
            isRunning = found.isRunning
            let wrong = found.wrong.count
            summaryClass = found.checkedAt == nil ? "muted" : wrong == 0 ? "good" : "bad"
            if let checkedAt = found.checkedAt {
                let result =
                    switch wrong {
                    case 0: "Nothing is wrong"
                    case 1: "One thing is wrong"
                    default: "\(wrong) things are wrong"
                    }
                // The moment, because an age would be wrong while the page is open.
                summary = "\(result), checked at \(EventTime.short(checkedAt)) (UTC)"
            } else {
                summary = "The checks run for the first time"
            }
            findings = found.findings.map(ShownFinding.init)
            registrations = configuration.registrations.enumerated().map {
                ShownRegistration($1, number: $0, found, notified: notified)
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

        init(
            _ registration: ShownConfiguration.Registration, number: Int, _ found: DoctorFindings,
            notified: InboxPage?
        ) {
            place = registration.place
            values = registration.values.enumerated().map {
                ShownValue(id: "register-\(number)-\($0)", name: $1.name, value: $1.value)
            }
            if let app = registration.notifiedApp {
                let newest = notified?.notifications.first { $0.clientID == app }
                (word, style) =
                    if let newest {
                        ("received a notification at \(EventTime.short(newest.receivedAt)) (UTC)", "good")
                    } else if notified == nil {
                        ("not known, because the database does not respond", "muted")
                    } else if notified?.next == nil {
                        ("no notification yet", "muted")
                    } else {
                        ("none among the newest \(SettingsPages.mostNotifications) notifications", "muted")
                    }
                return
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

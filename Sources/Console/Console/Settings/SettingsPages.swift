public import AppleAccounts
import Pages

/// The settings page: the current values with their sources, values to register, and `siwa doctor` findings.
public struct SettingsPages: Sendable {
    private let configuration: ShownConfiguration
    private let doctor: any DoctorFinding
    private let inbox: any InboxStore

    /// - Parameter inbox: Contains Apple's notifications, which prove that the notification endpoint works.
    public init(configuration: ShownConfiguration, doctor: any DoctorFinding, inbox: any InboxStore) {
        (self.configuration, self.doctor, self.inbox) = (configuration, doctor, inbox)
    }

    public var pages: [ConsolePage] {
        [
            // Settings apply to all apps, so only operators with access to all apps may see them.
            ConsolePage(
                .get, "/settings", access: .operatorsOfAllApps, entry: ("Settings", 90), handle: show),
            ConsolePage(.post, "/settings/check", access: .operatorsOfAllApps) { [doctor] _ in
                doctor.checkAgain()
                return .redirect(to: "/settings", notice: "The checks run; their results appear below.")
            },
        ]
    }

    /// The page looks for each app among this many of the newest notifications.
    private static let mostNotifications = 100

    private func show(_ request: ConsoleRequest) async -> ConsoleAnswer {
        let found = doctor.findings()
        let registrations = configuration.registrations
        // The newest stored notifications for all apps; `nil` if the database is unavailable.
        let notified =
            registrations.contains { $0.notifiedApp != nil }
            ? try? await inbox.notifications(before: nil, limit: Self.mostNotifications, visibleTo: .all)
            : nil
        let tabs =
            [("Checks", "#checks"), ("Registration", "#register"), ("In force", "#in-force")]
            + configuration.sections.map { ($0.title, "#\(Self.anchor($0))") }
        return .page("Settings", isLive: true, tabs: Tabs("On this page", tabs)) {
            Card(id: "checks") { Self.checks(found, token: request.viewer.formToken) }
            Card("Registration", id: "register") {
                if registrations.isEmpty {
                    """
                    <p class="empty">Nothing is to be registered: Apple and Google cannot reach this service, which has \
                    no public address with https (<code>SIWA_PUBLIC_URL</code>).</p>
                    """
                } else {
                    """
                    <p class="muted">What is registered at Apple and Google for this configuration. The last column is \
                    what the checks say, and for notifications when Apple's last one came.</p>
                    """
                    Table("Registration", ["Place", .any("Value"), "Result"], registrations.enumerated()) {
                        Self.cells($1, number: $0, found, notified: notified)
                    }
                }
            }
            Card("In force", id: "in-force") { inForce }
            for section in configuration.sections {
                Card(.text(section.title), id: Self.anchor(section)) {
                    for entry in section.entries {
                        "<h3>\(entry.name)</h3>"
                        Facts(entry.facts.map { Fact(.text($0.name), .text($0.value)) })
                    }
                    if section.entries.isEmpty { "<p class=\"empty\">None.</p>" }
                }
            }
        }
    }

    private static func anchor(_ section: ShownConfiguration.Section) -> String {
        section.title.lowercased().split { !$0.isLetter }.joined(separator: "-")
    }

    private static func checks(_ found: DoctorFindings, token: String) -> HTML {
        HTML {
            Division("bar") {
                "<h2>Checks</h2>"
                summary(of: found)
                if found.isRunning { HTML.muted("checking now") }
                PostForm(to: "/console/settings/check", token: token, look: "inline") {
                    "<button class=\"quiet\">Check again</button>"
                }
            }
            """
            <p class="muted">What <code>siwa doctor</code> says of this configuration: it asks Apple, Google and the \
            database, and changes nothing.</p>
            """
            Table(
                "Checks", ["Result", .head("Check"), .any("Found")], found.findings,
                ifEmpty: "The results appear here in some seconds."
            ) { finding in
                let (look, word) =
                    switch finding.verdict {
                    case .good: ("good", "ok")
                    case .note: ("warn", "note")
                    case .wrong: ("bad", "wrong")
                    case .skipped: ("muted", "not checked")
                    }
                let advice = finding.advice.map { "<br>\(HTML.muted($0))" as HTML }
                return [.span(look, .text(word)), .text(finding.check), "\(finding.text)\(advice)"]
            }
        }
    }

    private static func summary(of found: DoctorFindings) -> HTML {
        guard let checkedAt = found.checkedAt else { return .muted("The checks run for the first time") }
        let wrong = found.wrong.count
        let result =
            switch wrong {
            case 0: "Nothing is wrong"
            case 1: "One thing is wrong"
            default: "\(wrong) things are wrong"
            }
        // Shows the time of the check, because an age would become wrong while the page is open.
        return .span(wrong == 0 ? "good" : "bad", "\(result), checked at \(EventTime.short(checkedAt)) (UTC)")
    }

    private static func cells(
        _ registration: ShownConfiguration.Registration, number: Int, _ found: DoctorFindings,
        notified: InboxPage?
    ) -> [HTML] {
        let values = registration.values.enumerated().map { index, value -> HTML in
            // ID for the copy button, unique on the page.
            let id = "register-\(number)-\(index)"
            return """
                <div>\(HTML.muted(value.name)) <code id="\(id)">\(value.value)</code> \
                \(HTML.copyButton(for: id))</div>
                """
        }
        return [.text(registration.place), HTML(values), result(of: registration, found, notified: notified)]
    }

    private static func result(
        of registration: ShownConfiguration.Registration, _ found: DoctorFindings, notified: InboxPage?
    ) -> HTML {
        guard let app = registration.notifiedApp else {
            return switch registration.check.flatMap(found.verdict) {
            case .good?: .span("good", "tried, and accepted")
            case .wrong?: .span("bad", "refused")
            case .note?: .span("warn", "see the checks")
            case .skipped?, nil: .muted("cannot be tried from here")
            }
        }
        guard let notified else { return .muted("not known, because the database does not respond") }
        if let newest = notified.notifications.first(where: { $0.clientID == app }) {
            return .span("good", "received a notification at \(EventTime.short(newest.receivedAt)) (UTC)")
        }
        return .muted(
            notified.next == nil
                ? "no notification yet" : "none among the newest \(mostNotifications) notifications")
    }

    private var inForce: HTML {
        let unset = configuration.settings.filter { $0.value == nil }.map { "\(HTML.code($0.name)) " as HTML }
        return HTML {
            """
            <p class="muted">Read at the start. The environment comes before the file. Secrets never appear: sealing \
            keys and API keys are shown by their fingerprints, the same as in the audit log, and Apple's keys by \
            their IDs.</p>
            """
            Table(
                "Settings in force", [.head("Setting"), .any("Value"), "From"],
                configuration.settings.filter { $0.value != nil }
            ) { setting in
                [
                    "\(HTML.code(setting.name))<br><small class=\"muted\">\(setting.meaning)</small>",
                    "\(setting.value)", .span(setting.isDefault ? "muted" : "set", .text(setting.source)),
                ]
            }
            if !unset.isEmpty { Details("Not set, without a default") { "<p>\(HTML(unset))</p>" } }
        }
    }
}

/// The configuration as the page shows it. It contains secrets only as fingerprints.
public struct ShownConfiguration: Sendable {
    /// One setting with its current value.
    ///
    /// - meaning: A sentence that explains the setting.
    /// - value: The value; `nil` if it is not set and has no default.
    /// - source: The place that the value comes from: the environment, the file, or the default.
    public typealias Setting = (
        name: String, meaning: String, value: String?, source: String, isDefault: Bool
    )

    /// An entry in one of the configuration file's lists, such as an app or an API key, with its facts.
    public typealias Entry = (name: String, facts: [(name: String, value: String)])
    public typealias Section = (title: String, entries: [Entry])

    /// A value to register at Apple or Google.
    ///
    /// - place: The menu path to the field.
    /// - check: The `siwa doctor` check for the value; `nil` if this service cannot check it.
    /// - notifiedApp: Primary client ID of the app whose notifications arrive at the registered values.
    public typealias Registration = (
        place: String, values: [(name: String, value: String)], check: String?, notifiedApp: ClientID?
    )

    public let settings: [Setting]
    public let sections: [Section]
    public let registrations: [Registration]

    public init(settings: [Setting], sections: [Section], registrations: [Registration]) {
        (self.settings, self.sections, self.registrations) = (settings, sections, registrations)
    }
}

/// A URL that the service sends requests to, as pages show it. Such a URL often contains a secret.
///
/// Hides the user and the query. Shortens long path segments, because some services issue URLs with a key in
/// the path. Shows the rest of the path.
public enum MaskedURL {
    /// Minimum length of a path segment that is shortened, in bytes.
    static let longSegment = 16

    public static func text(_ url: String) -> String {
        guard let scheme = url.firstRange(of: "://") else { return "…" }
        let rest = url[scheme.upperBound...]
        let authority = rest.prefix { !"/?#".contains($0) }
        let user = authority.lastIndex(of: "@")
        let host = user.map { authority[authority.index(after: $0)...] } ?? authority
        let path = rest[authority.endIndex...].prefix { !"?#".contains($0) }
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).map { segment in
            segment.utf8.count < longSegment ? String(segment) : "\(segment.prefix(4))…"
        }
        let end = path.endIndex == url.endIndex ? "" : "?…"
        return
            "\(url[..<scheme.upperBound])\(user == nil ? "" : "…@")\(host)\(segments.joined(separator: "/"))\(end)"
    }
}

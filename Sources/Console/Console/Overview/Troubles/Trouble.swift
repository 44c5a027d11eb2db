public import AppleAccounts
import Encodings
import Pages

/// A current fault, described for an operator who knows only that sign-ins fail.
public struct Trouble: Sendable, Equatable {
    /// The kinds of trouble, most urgent first. A trouble that explains other troubles comes before them.
    public enum Kind: String, Sendable, CaseIterable {
        case databaseFull = "database_full"
        case standbyLost = "standby_lost"
        case databaseLocked = "database_locked"
        case databaseFailing = "database_failing"
        case keysUnreachable = "keys_unreachable"
        case clockWrong = "clock_wrong"
        case sealingKeyWrong = "sealing_key_wrong"
        case signingKeysShut = "signing_keys_shut"
        case refusedByApple = "refused_by_apple"
        case overloaded
        case clientHammering = "client_hammering"
        case notificationsSilent = "notifications_silent"
        case googleRefusing = "google_refusing"
        case receiverPaused = "receiver_paused"
        case receiverLate = "receiver_late"
        case workOverdue = "work_overdue"
        case refusesMany = "refuses_many"
        case proxyUnnamed = "proxy_unnamed"
        case peopleRevoked = "people_revoked"
    }

    public enum Severity: String, Sendable {
        /// Sign-ins fail now.
        case bad
        /// A part of the service fails, or is about to fail.
        case warn
        /// Not a fault in the service; it affects only individual users.
        case note
    }

    public let kind: Kind
    public let severity: Severity
    /// The fault and its effect.
    public let sentence: String
    /// The cause, if known.
    public let cause: String
    /// A sentence with numbers of people or requests across all apps, for operators who may see all apps. May
    /// be empty.
    public let numbers: String
    /// Steps that resolve the trouble.
    public let advice: String
    /// A console page with details; `nil` if only the runbook has details.
    public let page: Page?
    /// Distinguishes troubles of the same kind, for example by the name of a caller.
    public let about: String

    public struct Page: Sendable, Equatable {
        public let title: String
        public let path: String

        static let settings = Page(title: "Settings", path: "/console/settings")
        /// The `siwa doctor` findings.
        static let checks = Page(title: "Settings, checks", path: "/console/settings#checks")
    }

    init(
        _ kind: Kind, _ severity: Severity, _ sentence: String, cause: String, numbers: String = "",
        advice: String, page: Page? = nil, about: String = ""
    ) {
        (self.kind, self.severity, self.sentence, self.numbers) = (kind, severity, sentence, numbers)
        (self.cause, self.advice, self.page, self.about) = (cause, advice, page, about)
    }

    /// Identifies the same trouble in successive checks.
    var key: String { "\(kind.rawValue) \(about)" }

    var isOfDatabase: Bool { scope.isOfDatabase }

    /// True if operators who may see only some apps may read the trouble, because its text names no caller
    /// and contains no count. Counts are in `numbers`.
    var concernsEveryone: Bool { scope.concernsEveryone }

    private var scope: (isOfDatabase: Bool, concernsEveryone: Bool) {
        switch kind {
        case .databaseFull, .standbyLost, .databaseLocked, .databaseFailing: (true, true)
        case .keysUnreachable, .clockWrong, .sealingKeyWrong, .signingKeysShut, .refusedByApple, .overloaded,
            .notificationsSilent, .proxyUnnamed:
            (false, true)
        case .clientHammering, .googleRefusing, .receiverPaused, .receiverLate, .workOverdue, .refusesMany,
            .peopleRevoked:
            (false, false)
        }
    }
}

/// A trouble, with the time when this process first saw it.
public struct DatedTrouble: Sendable, Equatable {
    public let trouble: Trouble
    public let since: Moment

    /// - Parameter seesNumbers: True for an operator who may see all apps and open the pages with details.
    fileprivate func html(at now: Moment, seesNumbers: Bool) -> HTML {
        let (look, word) =
            switch trouble.severity {
            case .bad: ("bad", "Failing")
            case .warn: ("warn", "Warning")
            case .note: ("muted", "Note")
            }
        let cause = [trouble.cause, seesNumbers ? trouble.numbers : ""].filter { !$0.isEmpty }
        let begin = String(RFC3339.text(milliseconds: since.milliseconds).prefix(19)) + "Z"
        let page = seesNumbers ? trouble.page : nil
        let facts = [
            Fact("Cause", .text(cause.joined(separator: " "))),
            Fact(
                "Since",
                """
                <time datetime="\(begin)">\(begin)</time> \(HTML.muted("(\(ServiceCondition.ago(since, at: now)))"))
                """),
            Fact("What to do", .text(trouble.advice)),
            page.map { Fact("See", .link(.text($0.title), to: $0.path)) },
        ]
        return """
            <article class="trouble \(look)-trouble" data-trouble="\(trouble.kind.rawValue)">
            <p><span class="badge \(look)">\(word)</span> <strong>\(trouble.sentence)</strong></p>
            \(Facts(facts).html)
            </article>

            """
    }
}

extension [DatedTrouble] {
    /// Returns the card that lists the current troubles.
    func card(at now: Moment, seesNumbers: Bool, summary: HTML = "") -> HTML {
        """
        <section class="card" aria-labelledby="wrong">
        <h2 id="wrong">What is wrong now</h2>
        \(summary)\(HTML(map { $0.html(at: now, seesNumbers: seesNumbers) }))</section>
        """
    }
}

/// Remembers when each trouble began. Does no I/O and reads no clock. Contains one entry for each trouble
/// that the last check found.
struct TroubleLog {
    private var since: [String: Moment] = [:]

    /// - Parameter troubles: The current troubles.
    mutating func date(_ troubles: [Trouble], at now: Moment) -> [DatedTrouble] {
        since = Dictionary(
            troubles.map { ($0.key, since[$0.key] ?? now) }, uniquingKeysWith: { first, _ in first })
        return troubles.map { DatedTrouble(trouble: $0, since: since[$0.key] ?? now) }
    }
}

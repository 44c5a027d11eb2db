import AppleAccounts
import Encodings
import KeySets

/// Values of the template `overview`.
struct OverviewValues: Sendable {
    struct Trouble: Sendable {
        let style: String
        let word: String
        let sentence: String
        let since: String
        let ago: String
        let cause: String
        let advice: String
        let path: String?
        let pageTitle: String
        let kind: String
    }

    struct Fact: Sendable {
        let name: String
        let style: String
        let value: String
        let detail: String
    }

    struct Queue: Sendable {
        let name: String
        let count: String
        let age: String
        let style: String
        let deadline: String?
    }

    struct Key: Sendable {
        let use: String
        let name: String
        let fingerprint: String
        let age: String
        /// The ID of a key that does not open.
        let shutKeyID: String?
    }

    struct Finding: Sendable {
        let check: String
        let style: String
        let word: String
        let text: String
        let advice: String?
    }

    struct Tab: Sendable {
        let title: String
        let path: String
        let isCurrent: Bool
    }

    let version: String
    let isFine: Bool
    /// Checks of the doctor that have found something wrong.
    let wrongChecks: String?
    /// Parts about which nothing is known yet.
    let unknown: String?
    let troubles: [Trouble]
    let facts: [Fact]
    let seesNumbers: Bool
    let tabs: [Tab]
    let plots: [Plot]
    /// True when the hours could not be read.
    let isOld: Bool
    let isOneProcess: Bool
    let queues: [Queue]
    let hasKeys: Bool
    let keys: [Key]
    let findings: [Finding]
    let goodFindings: String
    let checkedAt: String?
    /// The template of a card below the state, and its values; `nil` without a card.
    let cardTemplate: String?
    let card: (any Sendable)?
    let csrf: String

    init(
        condition: ServiceCondition, troubles: [DatedTrouble], plots: [Plot], isOld: Bool, period: PlotPeriod,
        seesNumbers: Bool, findings: DoctorFindings?, keys: [KeyCondition], version: String,
        card: (template: String, values: any Sendable)?, csrf: String
    ) {
        let now = condition.now
        self.version = version
        // The pages that show more are for operators of all apps.
        self.troubles = troubles.map {
            Trouble($0, at: now, withPage: seesNumbers, withNumbers: seesNumbers)
        }
        let wrong = (seesNumbers ? findings?.findings ?? [] : []).filter { $0.verdict == .wrong }.map(\.check)
        wrongChecks = wrong.isEmpty ? nil : wrong.joined(separator: ", ")
        isFine = wrong.isEmpty && !troubles.contains { $0.trouble.severity != .note }
        let unknown =
            condition.unknownParts + (seesNumbers && findings?.checkedAt == nil ? ["the checks below"] : [])
        self.unknown = unknown.isEmpty ? nil : unknown.joined(separator: ", ")
        facts = condition.facts(seesNumbers: seesNumbers)
        self.seesNumbers = seesNumbers
        tabs = PlotPeriod.allCases.map {
            Tab(
                title: $0.title, path: "/console/overview?period=\($0.rawValue)", isCurrent: $0 == period)
        }
        (self.plots, self.isOld, isOneProcess) = (plots, isOld, period == .hour)
        queues = condition.queues.map { queue in
            Queue(
                name: queue.name.words, count: queue.count.map(String.init) ?? "–",
                age: queue.oldest == 0 ? "–" : ServiceCondition.duration(queue.oldest),
                style: queue.isOverdue ? "bad" : "muted",
                deadline: queue.deadline.map { ServiceCondition.date($0.milliseconds) })
        }
        hasKeys = !keys.isEmpty
        self.keys = keys.map { key in
            Key(
                use: key.use, name: key.name, fingerprint: key.fingerprint,
                age: key.ageText(at: now), shutKeyID: key.shutKeyID)
        }
        let all = findings?.findings ?? []
        self.findings = all.filter { $0.verdict != .good }.map(Finding.init)
        goodFindings = all.filter { $0.verdict == .good }.map(\.check).joined(separator: ", ")
        checkedAt = findings?.checkedAt.map { Self.ago($0, at: now) }
        (cardTemplate, self.card, self.csrf) = (card?.template, card?.values, csrf)
    }

    static func ago(_ moment: Moment, at now: Moment) -> String {
        let seconds = max(0, now.milliseconds - moment.milliseconds) / 1000
        return seconds < 5 ? "now" : "\(ServiceCondition.duration(seconds)) ago"
    }
}

extension OverviewValues.Trouble {
    /// - Parameters:
    ///   - withPage: True where the reader can open pages.
    ///   - withNumbers: True for a reader who may see all apps.
    init(_ dated: DatedTrouble, at now: Moment, withPage: Bool = true, withNumbers: Bool) {
        let trouble = dated.trouble
        (style, word) =
            switch trouble.severity {
            case .bad: ("bad", "Failing")
            case .warn: ("warn", "Warning")
            case .note: ("muted", "Note")
            }
        (sentence, advice) = (trouble.sentence, trouble.advice)
        cause = [trouble.cause, withNumbers ? trouble.numbers : ""].filter { !$0.isEmpty }
            .joined(separator: " ")
        since = String(RFC3339.text(milliseconds: dated.since.milliseconds).prefix(19)) + "Z"
        ago = OverviewValues.ago(dated.since, at: now)
        let page = withPage ? trouble.page : nil
        (path, pageTitle) = (page?.path, page?.title ?? "")
        kind = trouble.kind.rawValue
    }
}

extension OverviewValues.Finding {
    init(_ finding: DoctorFindings.Finding) {
        (style, word) =
            switch finding.verdict {
            case .good: ("good", "ok")
            case .note: ("muted", "note")
            case .wrong: ("bad", "wrong")
            case .skipped: ("muted", "skipped")
            }
        (check, text, advice) = (finding.check, finding.text, finding.advice)
    }
}

extension ServiceCondition {
    /// Nouns for what has not been compared since the start.
    var unknownParts: [String] {
        var parts: [String] = []
        switch keys.status {
        case .ready, .stale, .unavailable(.some): break
        case .unavailable(nil): parts.append("Apple's keys")
        }
        if secondsAhead == nil { parts.append("the clock") }
        return parts
    }

    /// The state of everything that the service depends on.
    func facts(seesNumbers: Bool) -> [OverviewValues.Fact] {
        var facts = [databaseFact, keysFact, clockFact, sealingFact(seesNumbers: seesNumbers)]
        if seesNumbers { facts.append(notificationFact) }
        return facts
    }

    private var databaseFact: OverviewValues.Fact {
        let kind = isPostgres ? "PostgreSQL" : "SQLite"
        guard let databaseFailure else {
            return OverviewValues.Fact(
                name: "Database", style: "good", value: "accepts commands", detail: kind)
        }
        return OverviewValues.Fact(
            name: "Database", style: "bad", value: databaseFailure.code.rawValue, detail: kind)
    }

    private var keysFact: OverviewValues.Fact {
        let age = keys.age.map { "last confirmed \(Self.duration($0 / 1000)) ago" } ?? "never fetched"
        let (style, value) =
            switch keys.status {
            case .ready: ("good", "\(keys.keyCount) usable")
            case .stale(nil): ("warn", "\(keys.keyCount) usable, a fetch is due")
            case .stale(_?): ("warn", "\(keys.keyCount) usable, the last fetch failed")
            case .unavailable: ("bad", "none")
            }
        return OverviewValues.Fact(name: "Apple's keys", style: style, value: value, detail: age)
    }

    private var clockFact: OverviewValues.Fact {
        guard let secondsAhead else {
            return OverviewValues.Fact(
                name: "Clock", style: "muted", value: "not compared yet", detail: "Apple has not responded")
        }
        let distance = Self.duration(Int64(clamping: secondsAhead.magnitude))
        let style = secondsAhead.magnitude > 30 ? (secondsAhead.magnitude >= 50 ? "bad" : "warn") : "good"
        return OverviewValues.Fact(
            name: "Clock", style: style,
            value: secondsAhead.magnitude <= 2
                ? "agrees with Apple's" : "\(distance) \(secondsAhead < 0 ? "slow" : "fast")",
            detail: "by the Date of Apple's responses")
    }

    /// The sample has values of people of all apps.
    private func sealingFact(seesNumbers: Bool) -> OverviewValues.Fact {
        func fact(_ style: String, _ value: String, _ detail: String) -> OverviewValues.Fact {
            OverviewValues.Fact(name: "Sealed values", style: style, value: value, detail: detail)
        }
        if unreadableValues > 0 {
            return seesNumbers
                ? fact("bad", "\(unreadableValues) do not open", "of a sample of \(sampledValues)")
                : fact("bad", "some do not open", "of a sample")
        }
        guard hasSealingKeys else {
            return fact("muted", "no sealing key", "no authorization code and no token of Apple's is kept")
        }
        guard sampledValues > 0 else { return fact("muted", "none to open yet", "by the last sample") }
        return fact("good", "open", seesNumbers ? "a sample of \(sampledValues)" : "a sample")
    }

    private var notificationFact: OverviewValues.Fact {
        let name = "Last notification from Apple"
        if let lastNotification {
            return OverviewValues.Fact(
                name: name, style: "good", value: OverviewValues.ago(lastNotification, at: now),
                detail: "at this replica")
        }
        let today = day[.notification] ?? 0
        return OverviewValues.Fact(
            name: name, style: "muted",
            value: today > 0 ? "\(today) in the last day" : "none in the last day",
            detail: "at all replicas; none at this one since its start")
    }
}

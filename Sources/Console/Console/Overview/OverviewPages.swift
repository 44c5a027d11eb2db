public import AppleAccounts
import KeySets
public import Pages

/// The first page: current faults, plots, and the state of all dependencies.
///
/// Operators who may see only some of the apps see the state of the service but no numbers, because each
/// number covers people from all apps.
public struct OverviewPages: Sendable {
    /// A card from another module, shown below the state.
    public typealias OtherCard = @Sendable (ConsoleRequest) -> HTML

    private let numbers: ServiceNumbers
    private let monitor: OverviewMonitor
    private let version: String
    private let findings: @Sendable () async -> DoctorFindings?
    private let keys: @Sendable () async -> [KeyCondition]
    private let retireKey: @Sendable (_ keyID: String) async throws -> Bool
    private let card: OtherCard?

    /// - Parameter retireKey: Retires the signing key with this ID. Returns false if the sealing keys can
    ///   open the key, or if it does not exist.
    public init(
        numbers: ServiceNumbers, monitor: OverviewMonitor, version: String,
        findings: @escaping @Sendable () async -> DoctorFindings?,
        keys: @escaping @Sendable () async -> [KeyCondition],
        retireKey: @escaping @Sendable (String) async throws -> Bool, card: OtherCard? = nil
    ) {
        (self.numbers, self.monitor, self.version, self.card) = (numbers, monitor, version, card)
        (self.findings, self.keys, self.retireKey) = (findings, keys, retireKey)
    }

    public var pages: [ConsolePage] {
        [
            ConsolePage(.get, "/overview", access: .operators, entry: ("Overview", 10), handle: show),
            ConsolePage(.post, "/overview/retire-key", access: .operatorsOfAllApps, handle: retire),
        ]
    }

    private func retire(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        guard let keyID = request.form["key"], try await retireKey(keyID) else {
            return .refused("This key opens, or is gone. A key that opens is not retired by hand.")
        }
        return .redirect(to: "/overview", notice: "The key is retired. Tokens that it has signed end.")
    }

    private func show(_ request: ConsoleRequest) async -> ConsoleAnswer {
        let (condition, troubles) = await monitor.latest()
        let findings = await self.findings()
        let seesNumbers = request.viewer.scope == .all
        let numbers: HTML =
            seesNumbers
            ? await self.numbers(condition, findings, for: request)
            : """
            <p class="muted">Your key is for a part of the apps. The numbers are of all apps, so they are not shown.</p>
            """
        let heading: HTML = "<div class=\"bar\"><h1>Overview</h1>\(HTML.muted("siwa \(version)"))</div>"
        return .page("Overview", heading: heading, isLive: true) {
            Self.wrongNow(condition, troubles, findings, seesNumbers: seesNumbers)
            Division("grid") { condition.states(seesNumbers: seesNumbers) }
            card.map { $0(request) }
            numbers
        }
    }

    static func wrongNow(
        _ condition: ServiceCondition, _ troubles: [DatedTrouble], _ findings: DoctorFindings?,
        seesNumbers: Bool
    ) -> HTML {
        let troubles = troubles.filter { seesNumbers || $0.trouble.concernsEveryone }
        let checks = seesNumbers ? findings?.wrong.map(\.check) ?? [] : []
        let unknown =
            condition.unknownParts + (seesNumbers && findings?.checkedAt == nil ? ["the checks below"] : [])
        let summary = HTML {
            if checks.isEmpty, !troubles.contains(where: { $0.trouble.severity != .note }) {
                let rest: HTML =
                    unknown.isEmpty
                    ? "" : " \(HTML.muted("Not known yet: \(unknown.joined(separator: ", "))."))"
                "<p class=\"good\">Nothing is wrong.\(rest)</p>"
            }
            if !checks.isEmpty {
                """
                <p><span class="badge warn">Warning</span> Checks that found something wrong: \
                <strong>\(checks.joined(separator: ", "))</strong>. <a href="#checks">What they say</a> is below.</p>
                """
            }
        }
        return troubles.card(at: condition.now, seesNumbers: seesNumbers, summary: summary)
    }

    /// Returns the plots, the work queues, the keys and the checks.
    private func numbers(
        _ condition: ServiceCondition, _ findings: DoctorFindings?, for request: ConsoleRequest
    ) async -> HTML {
        let period = request.query["period"].flatMap(PlotPeriod.init(rawValue:)) ?? .hour
        // Hourly counts need the database, but the minute counts are in memory.
        let points: [NumberSeries.Point]? =
            if let hours = period.hours { try? await numbers.hours(hours) } else { numbers.lastHour() }
        let keys = await self.keys()
        func address(of period: PlotPeriod) -> String { "/console/overview?period=\(period.rawValue)" }
        return HTML {
            "<h2>Numbers</h2>"
            Tabs(
                "Time of the plots", PlotPeriod.allCases.map { ($0.title, address(of: $0)) },
                current: address(of: period))
            if period == .hour {
                """
                <p class="muted">By minute, of this replica. The day and the week are of all replicas. Times are \
                UTC.</p>
                """
            }
            if points == nil {
                """
                <p class="problem">The database does not respond, so that the hours cannot be read. The last hour is \
                in memory.</p>
                """
            }
            Division("grid plots") {
                for plot in points.map({ ServicePlots(period: period, points: $0).all }) ?? [] { plot }
            }
            "<h2 id=\"work\">Work that is due</h2>"
            Table(
                "Work that is due", [.head("Queue"), .number("Due"), "Oldest due for"], condition.queues,
                cells: Self.cells)
            """
            <p class="muted">Events are counted and dated from the first that a receiver has not got, at most: those \
            that it does not want count until they are passed.</p>
            """
            "<h2 id=\"keys\">Keys</h2>"
            Table(
                "Keys", [.head("Use"), .any("Name"), .any("Fingerprint"), "Age"], keys,
                ifEmpty: "This service has no key that seals or signs."
            ) { Self.cells($0, at: condition.now, token: request.viewer.formToken) }
            "<h2 id=\"checks\">Findings of siwa doctor</h2>"
            if let findings, let checkedAt = findings.checkedAt {
                for finding in findings.findings where finding.verdict != .good { Self.card(of: finding) }
                let good = findings.findings.filter { $0.verdict == .good }.map(\.check)
                """
                <p class="muted">Good: \(good.joined(separator: ", ")). Checked: \
                \(ServiceCondition.ago(checkedAt, at: condition.now)).</p>
                """
            } else {
                "<p class=\"empty\">Not checked yet.</p>"
            }
        }
    }

    private static func cells(_ queue: QueueCondition) -> [HTML] {
        let end = queue.deadline.map {
            "<br>the first is given up \(ServiceCondition.date($0.milliseconds)) UTC" as HTML
        }
        let age = queue.oldest == 0 ? "–" : ServiceCondition.duration(queue.oldest)
        return [
            .text(queue.name.traits.words), .text(queue.count.map(String.init) ?? "–"),
            .span(queue.isOverdue ? "bad" : "muted", "\(age)\(end)"),
        ]
    }

    private static func cells(_ key: KeyCondition, at now: Moment, token: String) -> [HTML] {
        let retire = key.shutKeyID.map { keyID -> HTML in
            let form = PostForm(
                to: "/console/overview/retire-key", token: token, look: "inline", [("key", keyID)]
            ) {
                """
                <button class="quiet danger" aria-label="Retire: \(keyID)">Retire: its tokens end</button>
                """
            }
            return "<br>\(HTML.span("bad", "does not open")) \(form.html)"
        }
        let age =
            switch key.age {
            case .made(let moment): "made \(ServiceCondition.ago(moment, at: now))"
            case .firstSeen(let moment): "first seen \(ServiceCondition.ago(moment, at: now))"
            case .notSeen: "not at the last start"
            case .unknown: "–"
            }
        return [.text(key.use), .code(key.name), .code(key.fingerprint), "\(age)\(retire)"]
    }

    private static func card(of finding: DoctorFindings.Finding) -> Card {
        let (look, word) =
            switch finding.verdict {
            case .good: ("good", "ok")
            case .note: ("muted", "note")
            case .wrong: ("bad", "wrong")
            case .skipped: ("muted", "skipped")
            }
        return Card {
            """
            <p><span class="badge \(look)">\(word)</span> <strong>\(finding.check)</strong>: \(finding.text)</p>
            """
            finding.advice.map { "<p class=\"muted\">\($0)</p>" }
        }
    }
}

/// One of the service's keys, as the overview shows it. Contains no secret.
public struct KeyCondition: Sendable {
    /// The key's age, if known.
    public enum Age: Sendable, Equatable {
        /// The service created the key.
        case made(Moment)
        /// Time of the first startup with this database and this key. The key can be older.
        case firstSeen(Moment)
        /// The key was missing at the last startup: its file is newer, or another replica started without it.
        case notSeen
        /// The database could not be read.
        case unknown
    }

    /// The key's purpose, such as "seals stored values".
    public let use: String
    public let name: String
    public let fingerprint: String
    public let age: Age
    /// ID of a signing key that the sealing keys cannot open. An operator can retire the key by this ID.
    public var shutKeyID: String?

    public init(use: String, name: String, fingerprint: String, age: Age) {
        (self.use, self.name, self.fingerprint, self.age) = (use, name, fingerprint, age)
    }
}

extension ServiceCondition {
    /// Names of the parts that have not been checked since startup.
    fileprivate var unknownParts: [String] {
        var parts: [String] = []
        switch keys.status {
        case .ready, .stale, .unavailable(.some): break
        case .unavailable(nil): parts.append("Apple's keys")
        }
        if secondsAhead == nil { parts.append("the clock") }
        return parts
    }

    /// Cards that show the state of all dependencies.
    fileprivate func states(seesNumbers: Bool) -> HTML {
        HTML {
            state(
                "Database", databaseFailure.map { ("bad", $0.code.rawValue) } ?? ("good", "accepts commands"),
                isPostgres ? "PostgreSQL" : "SQLite")
            state(
                "Apple's keys", keysState,
                keys.age.map { "last confirmed \(Self.duration($0 / 1000)) ago" } ?? "never fetched")
            clockState
            sealingState(seesNumbers: seesNumbers)
            if seesNumbers { notificationState }
        }
    }

    private func state(_ name: String, _ state: (look: String, words: String), _ detail: String) -> Card {
        Card {
            "<h3>\(name)</h3><p class=\"\(state.look)\">\(state.words)</p><p class=\"muted\">\(detail)</p>"
        }
    }

    private var keysState: (String, String) {
        switch keys.status {
        case .ready: ("good", "\(keys.keyCount) usable")
        case .stale(nil): ("warn", "\(keys.keyCount) usable, a fetch is due")
        case .stale(_?): ("warn", "\(keys.keyCount) usable, the last fetch failed")
        case .unavailable: ("bad", "none")
        }
    }

    private var clockState: Card {
        guard let secondsAhead else {
            return state("Clock", ("muted", "not compared yet"), "Apple has not responded")
        }
        let distance = secondsAhead.magnitude
        let words =
            distance <= 2
            ? "agrees with Apple's"
            : "\(Self.duration(Int64(clamping: distance))) \(secondsAhead < 0 ? "slow" : "fast")"
        return state(
            "Clock", (distance > 30 ? (distance >= 50 ? "bad" : "warn") : "good", words),
            "by the Date of Apple's responses")
    }

    /// Returns the card about sealed values. Its counts cover people from all apps.
    private func sealingState(seesNumbers: Bool) -> Card {
        func sealed(_ look: String, _ words: String, _ detail: String) -> Card {
            state("Sealed values", (look, words), detail)
        }
        if unreadableValues > 0 {
            return seesNumbers
                ? sealed("bad", "\(unreadableValues) do not open", "of a sample of \(sampledValues)")
                : sealed("bad", "some do not open", "of a sample")
        }
        guard hasSealingKeys else {
            return sealed("muted", "no sealing key", "no authorization code and no token of Apple's is kept")
        }
        guard sampledValues > 0 else { return sealed("muted", "none to open yet", "by the last sample") }
        return sealed("good", "open", seesNumbers ? "a sample of \(sampledValues)" : "a sample")
    }

    private var notificationState: Card {
        let name = "Last notification from Apple"
        if let lastNotification {
            return state(name, ("good", Self.ago(lastNotification, at: now)), "at this replica")
        }
        let today = day[.notification] ?? 0
        return state(
            name, ("muted", today > 0 ? "\(today) in the last day" : "none in the last day"),
            "at all replicas; none at this one since its start")
    }
}

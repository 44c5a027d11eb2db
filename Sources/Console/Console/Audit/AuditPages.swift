public import AppleAccounts
import Encodings
import Pages

/// The audit log page. The log covers all apps, so only operators whose key covers all apps may see it.
public struct AuditPages: Sendable {
    private let reader: any AuditReader
    private let progress: AuditProgress

    public init(reader: any AuditReader) {
        self.reader = reader
        progress = AuditProgress(reader)
    }

    public var pages: [ConsolePage] {
        [ConsolePage(.get, "/audit", access: .operatorsOfAllApps, entry: ("Audit", 70), handle: list)]
    }

    private func list(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        let filter = try AuditFilter(request)
        let (rows, next) = try await filter.page(of: reader)
        let look = try await progress.advance(at: request.now)
        let chain = look.chain
        let total = filter.fields.isEmpty ? Int(chain.head.sequence - chain.anchor.sequence) : nil
        // The account index is ordered newest first, so a search for an account offers no other order.
        let order = filter.account == nil ? [AuditFilter.oldest] : []
        return .page("Audit log") {
            Card {
                Facts([
                    Fact("Verified", look.state.words(after: look.lastWhole)),
                    Fact(
                        "All rows last read",
                        look.lastWhole.map { .text($0.sentence) }
                            ?? .muted("not yet since this process started")),
                    Fact("Rows", "\(chain.anchor.sequence + 1) to \(chain.head.sequence)"),
                    Fact("Newest hash", .code(chain.head.hashText)),
                    Fact(
                        "Rows whose user was erased",
                        look.lastWhole.map { "\($0.anonymous)" } ?? .muted("not counted yet")),
                ])
                """
                <p class="muted">Keep the newest hash and this number elsewhere. \
                <code>siwa audit verify --expect HASH</code> then finds a log that was written anew. The number must \
                not grow without a row account_erased.</p>
                """
            }
            filter.form
            let unread = next == nil ? "" : " among those that were looked at; more follow"
            Table(
                "Rows of the audit log",
                [
                    Table.Column("Row").sorted([""] + order), .nowrap("Time (UTC)"), "What", .any("Who"),
                    .nowrap("Account"), "More",
                ], rows, ifEmpty: "No row matches\(unread).",
                pager: Pager(
                    filter.place, rows: rows.count, next: next.map { "\($0)" }, of: total,
                    at: "/console/audit", filter.fields),
                cells: Self.cells)
        }
    }

    private static func cells(_ row: AuditRow) -> [HTML] {
        let (facts, person) = (row.facts, row.entry.person)
        let actor = [facts.actor.kind.rawValue, facts.actor.name].compactMap { $0 }.joined(separator: " ")
        let refused: HTML = facts.outcome == .refused ? " \(HTML.span("bad", "refused"))" : ""
        let isErased = person == nil && row.entry.personDigest != nil
        let more = [
            facts.requestID.map { Fact("Request", .code($0)) },
            facts.detail.map { Fact("Detail", .text($0)) }, person?.scope.map { Fact("Scope", .text($0)) },
            Fact("Hash", .code(row.link.hashText, "long")),
        ]
        return [
            "\(row.sequence)", .text(EventTime.short(facts.moment)),
            "\(facts.action.rawValue)\(refused)\(facts.reason.map { " \(HTML.muted($0))" as HTML })",
            "\(actor)\(facts.oauthClient.map { " \(HTML.muted("for \($0.rawValue)"))" as HTML })",
            person.map { .shortLink(to: $0.account) } ?? (isErased ? .muted("erased") : ""),
            Details(.text(facts.requestID.map(ShortID.text) ?? "Details"), "nowrap") { Facts(more) }.html,
        ]
    }
}

extension AuditProgress.State {
    fileprivate func words(after whole: AuditProgress.Whole?) -> HTML {
        switch self {
        case .verified(let sequence, isWhole: true): .span("good", "up to row \(sequence), the newest")
        case .verified(let sequence, isWhole: false):
            .span(
                "warn",
                """
                \(whole == nil ? "" : "once more ")up to row \(sequence); load the page again to go on, or run \
                siwa audit verify
                """)
        case .broken(let fault): .span("bad", "broken: \(Self.words(of: fault))")
        }
    }

    private static func words(of fault: AuditVerification.Fault) -> String {
        switch fault.code {
        case .missing: "row \(fault.sequence) is missing"
        case .changed: "row \(fault.sequence) was changed, inserted or moved"
        case .personChanged: "the account beside row \(fault.sequence) was changed"
        case .headDiffers: "the newest row is not row \(fault.sequence) as it was written"
        case .anchorUnproven: "rows up to \(fault.sequence) are gone, and no row tells of their purge"
        case .expectedMissing:
            "a row that was verified before is not there any more: the log was written anew"
        }
    }
}

extension AuditProgress.Whole {
    fileprivate var sentence: String {
        let rows = rows.map { "rows \($0.lowerBound) to \($0.upperBound)" } ?? "no rows"
        return "at \(moment.rfc3339), \(rows)"
    }
}

extension AuditFilter {
    fileprivate var form: HTML {
        let actions = [("", "all")] + AuditAction.allCases.map { ($0.rawValue, $0.rawValue) }
        return """
            <form method="get" action="/console/audit" class="filter">
            <label>Who <input name="actor" value="\(actor)" placeholder="a key, a client, or apple"></label>
            <label>What \(Select("action", actions, chosen: action?.rawValue).html)</label>
            <label>Account <input name="account" value="\(account?.rawValue)" placeholder="acc_…"></label>
            <label>Until <input name="until" value="\(until?.rfc3339)" placeholder="2026-11-21 02:00:00"></label>
            <button>Filter</button>
            </form>
            """
    }
}

/// The audit page's filter, as entered in its form.
struct AuditFilter: Sendable {
    /// Maximum number of rows that one page reads. If few rows match, the search continues on the next page.
    static let longestScan = 5000
    /// Rows per page.
    static let pageSize = 50

    let actor: String
    let action: AuditAction?
    let account: AccountID?
    let until: Moment?
    let place: ListPlace

    init(_ request: ConsoleRequest) throws(ConsoleAnswer) {
        let query = request.query
        place = request.place { Int64($0) }.place
        actor = query["actor"] ?? ""
        action = try query.value("action", or: "There is no kind of row with this name.") {
            AuditAction(rawValue: $0)
        }
        account = try query.value(
            "account", or: "An account is acc_ and an ID, as GET /v1/accounts gives it."
        ) { AccountID($0) }
        // Accepts a time in the format of the table or of the log, and also a day without a time.
        until = try query.value(
            "until", or: "A time is like 2026-11-21T02:00:00Z, or a day like 2026-11-21."
        ) {
            Moment(rfc3339: $0) ?? Moment(rfc3339: "\($0)T23:59:59.999Z")
                ?? Moment(rfc3339: $0.replacing(" ", with: "T") + ".999Z")
        }
    }

    func matches(_ row: AuditRow) -> Bool {
        let facts = row.facts
        guard action == nil || facts.action == action, until.map({ facts.moment <= $0 }) ?? true,
            account == nil || row.entry.person?.account == account
        else { return false }
        guard !actor.isEmpty else { return true }
        return actor.isByteEqual(to: facts.actor.kind.rawValue)
            || facts.actor.name.map { actor.isByteEqual(to: $0) } ?? false
            || facts.oauthClient.map { actor.isByteEqual(to: $0.rawValue) } ?? false
    }

    /// Name of the oldest-first sort order.
    static let oldest = "oldest"

    /// Returns the page's rows, and the row number at which the next page starts; `nil` if this is the last
    /// page.
    func page(of reader: any AuditReader) async throws -> (rows: [AuditRow], next: Int64?) {
        let isForward = place.order == Self.oldest
        var last = Int64.max
        if let until { last = try await reader.auditSequence(at: until) + 1 }
        let position = place.position.flatMap { Int64($0) }
        var end = isForward ? max(0, position ?? 0) : min(position ?? .max, last)
        var found: [AuditRow] = []
        var scanned = 0
        while scanned < Self.longestScan {
            let rows =
                isForward
                ? try await reader.auditRows(after: end, limit: 500).filter { $0.sequence < last }
                : try await reader.auditRows(before: end, of: account, limit: 500)
            for row in rows {
                guard found.count < Self.pageSize else { return (found, end) }
                if matches(row) { found.append(row) }
                end = row.sequence
            }
            scanned += rows.count
            guard rows.count == 500 else { return (found, nil) }
        }
        return (found, end)
    }

    /// The form fields with a value; empty if the filter accepts all rows.
    var fields: [(name: String, value: String)] {
        [
            ("actor", actor), ("action", action?.rawValue ?? ""), ("account", account?.rawValue ?? ""),
            ("until", until?.rfc3339 ?? ""),
        ].filter { !$0.1.isEmpty }
    }
}

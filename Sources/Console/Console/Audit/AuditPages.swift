public import AppleAccounts
import Pages

/// The page of the audit log. It belongs to no app, so only operators whose key is for all apps see it.
public struct AuditPages: Sendable {
    private let reader: any AuditReader
    private let progress: AuditProgress

    public init(reader: any AuditReader) {
        self.reader = reader
        progress = AuditProgress(reader)
    }

    public var pages: [ConsolePage] {
        [
            ConsolePage(
                .get, "/audit", access: .operatorsOfAllApps, entry: ConsolePage.Entry("Audit", order: 70),
                handle: list)
        ]
    }

    private func list(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        let filter: AuditFilter
        do throws(AuditFilter.Unreadable) {
            filter = try AuditFilter(request.query)
        } catch {
            return .refused(error.sentence)
        }
        let (rows, next) = try await filter.page(of: reader)
        let look = try await progress.advance(at: request.now)
        return .page("Audit log", Self.page(rows, next, filter, look))
    }

    private static func page(
        _ rows: [AuditRow], _ next: Int64?, _ filter: AuditFilter, _ look: AuditProgress.Look
    ) -> HTML {
        HTML {
            "<h1>Audit log</h1>"
            Card {
                Facts([
                    Fact("Verified", look.state.words(after: look.lastWhole)),
                    Fact(
                        "All rows last read",
                        look.lastWhole.map { .text($0.sentence) }
                            ?? .muted("not yet since this process started")),
                    Fact("Rows", "\(look.chain.anchor.sequence + 1) to \(look.chain.head.sequence)"),
                    Fact("Newest hash", .code(look.chain.head.hashText)),
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
            if rows.isEmpty {
                let older = next == nil ? "" : " among the newest; the older rows follow"
                "<p class=\"empty\">No row matches\(older).</p>"
            }
            Table(
                "Rows of the audit log, the newest first",
                ["Row", .nowrap("Time (UTC)"), "What", .any("Who"), .nowrap("Account"), "More"], rows,
                cells: cells)
            if let next { "<p><a href=\"/console/audit?\(filter.query(before: next))\">Older rows</a></p>" }
        }
    }

    private static func cells(_ row: AuditRow) -> [HTML] {
        let (facts, person) = (row.facts, row.entry.person)
        let actor = [facts.actor.kind.rawValue, facts.actor.name].compactMap { $0 }.joined(separator: " ")
        let refused: HTML = facts.outcome == .refused ? " \(HTML.span("bad", "refused"))" : ""
        let isErased = person == nil && row.entry.personDigest != nil
        let more = [
            facts.requestID.map { Fact("Request", .code($0)) },
            facts.detail.map { Fact("Detail", .text($0)) },
            person?.scope.map { Fact("Scope", .text($0)) },
            Fact("Hash", .code(row.link.hashText, "long")),
        ]
        return [
            "\(row.sequence)", .text(EventTime.short(facts.moment)),
            "\(facts.action.rawValue)\(refused)\(facts.reason.map { " \(HTML.muted($0))" as HTML })",
            "\(actor)\(facts.oauthClient.map { " \(HTML.muted("for \($0.rawValue)"))" as HTML })",
            person.map { .shortLink(to: $0.account) } ?? (isErased ? .muted("erased") : ""),
            """
            <details><summary class="nowrap">\(facts.requestID.map(ShortID.text) ?? "Details")</summary>
            \(Facts(more).html)</details>
            """,
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

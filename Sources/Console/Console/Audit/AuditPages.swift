public import AppleAccounts

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

    private struct Values: Sendable {
        let actor: String
        /// Not `account`: a row without one would find it.
        let chosenAccount: String
        let until: String
        let actions: [Choice]
        let rows: [Row]
        let next: String?
        let head: String
        let headSequence: Int64
        let firstSequence: Int64
        /// Exactly one of the three is set.
        let whole: String?
        let partly: String?
        let broken: String?
        /// `nil` until this process has read all rows.
        let readThrough: String?
        let anonymous: String?
    }

    private struct Choice: Sendable {
        let word: String
        let isChosen: Bool
    }

    private struct Row: Sendable {
        let sequence: Int64
        let time: String
        let action: String
        let isRefused: Bool
        let reason: String?
        let actor: String
        let client: String?
        let account: String?
        let isErased: Bool
        let scope: String?
        let accountText: String?
        let requestID: String?
        let requestText: String?
        let detail: String?
        let hash: String

        init(_ row: AuditRow) {
            let (facts, person) = (row.facts, row.entry.person)
            (sequence, hash) = (row.sequence, row.link.hashText)
            time = EventTime.short(facts.moment)
            action = facts.action.rawValue
            isRefused = facts.outcome == .refused
            reason = facts.reason
            actor = [facts.actor.kind.rawValue, facts.actor.name].compactMap { $0 }.joined(separator: " ")
            client = facts.oauthClient?.rawValue
            account = person?.account.rawValue
            isErased = person == nil && row.entry.personDigest != nil
            scope = person?.scope
            accountText = account.map(ShortID.text)
            requestID = facts.requestID
            requestText = requestID.map(ShortID.text)
            detail = facts.detail
        }
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
        let (state, chain) = (look.state, look.chain)
        let values = Values(
            actor: filter.actor, chosenAccount: filter.account?.rawValue ?? "",
            until: filter.until?.rfc3339 ?? "",
            actions: AuditAction.allCases.map { Choice(word: $0.rawValue, isChosen: $0 == filter.action) },
            rows: rows.map(Row.init), next: next.map { filter.query(before: $0) }, head: chain.head.hashText,
            headSequence: chain.head.sequence, firstSequence: chain.anchor.sequence + 1,
            whole: state.whole, partly: state.partly(after: look.lastWhole), broken: state.broken,
            readThrough: look.lastWhole.map(\.sentence), anonymous: look.lastWhole.map { "\($0.anonymous)" })
        return .page(template: "audit", title: "Audit log", values: values)
    }
}

extension AuditProgress.State {
    fileprivate var whole: String? {
        guard case .verified(let sequence, isWhole: true) = self else { return nil }
        return "up to row \(sequence), the newest"
    }

    fileprivate func partly(after whole: AuditProgress.Whole?) -> String? {
        guard case .verified(let sequence, isWhole: false) = self else { return nil }
        return
            "\(whole == nil ? "" : "once more ")up to row \(sequence); load the page again to go on, or run "
            + "siwa audit verify"
    }

    fileprivate var broken: String? {
        guard case .broken(let fault) = self else { return nil }
        return switch fault.code {
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

import AppleAccounts
import Encodings

/// The filter of the audit page, as its form gives it.
struct AuditFilter: Sendable {
    /// Most rows that one page looks through. A filter that few rows pass leads on from page to page.
    static let longestScan = 5000
    /// Rows of one page.
    static let pageSize = 50

    let actor: String
    let action: AuditAction?
    let account: AccountID?
    let until: Moment?
    /// Rows before this number; `nil` from the newest on.
    let before: Int64?

    /// The first field that cannot be read, in words for the operator.
    struct Unreadable: Error {
        let sentence: String
    }

    init(_ query: [String: String]) throws(Unreadable) {
        func text(_ name: String) -> String? { query[name].flatMap { $0.isEmpty ? nil : $0 } }
        actor = text("actor") ?? ""
        action = try text("action").map { word throws(Unreadable) in
            guard let action = AuditAction(rawValue: word) else {
                throw Unreadable(sentence: "There is no kind of row named \(word).")
            }
            return action
        }
        account = try text("account").map { word throws(Unreadable) in
            guard let account = AccountID(word) else {
                throw Unreadable(sentence: "An account is acc_ and an ID, as GET /v1/accounts gives it.")
            }
            return account
        }
        until = try text("until").map { word throws(Unreadable) in
            // As the column shows it, as the log has it, or a day.
            guard
                let moment = Moment(rfc3339: word) ?? Moment(rfc3339: "\(word)T23:59:59.999Z")
                    ?? Moment(rfc3339: word.replacing(" ", with: "T") + ".999Z")
            else {
                throw Unreadable(sentence: "A time is like 2026-11-21T02:00:00Z, or a day like 2026-11-21.")
            }
            return moment
        }
        before = text("before").flatMap { Int64($0) }
    }

    func matches(_ row: AuditRow) -> Bool {
        let facts = row.facts
        guard action == nil || facts.action == action, until.map({ facts.moment <= $0 }) ?? true else {
            return false
        }
        guard !actor.isEmpty else { return true }
        return actor.isByteEqual(to: facts.actor.kind.rawValue)
            || facts.actor.name.map { actor.isByteEqual(to: $0) } ?? false
            || facts.oauthClient.map { actor.isByteEqual(to: $0.rawValue) } ?? false
    }

    /// Rows of the page, the newest first, and the number from which the next page goes on; `nil` at the end.
    func page(of reader: any AuditReader) async throws -> (rows: [AuditRow], next: Int64?) {
        var end = before ?? .max
        if let until { end = min(end, try await reader.auditSequence(at: until) + 1) }
        var found: [AuditRow] = []
        var scanned = 0
        while scanned < Self.longestScan {
            let rows = try await reader.auditRows(before: end, of: account, limit: 500)
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

    /// The query of the next page.
    func query(before sequence: Int64) -> String {
        let fields = [
            ("actor", actor), ("action", action?.rawValue ?? ""), ("account", account?.rawValue ?? ""),
            ("until", until?.rfc3339 ?? ""), ("before", String(sequence)),
        ]
        return fields.filter { !$0.1.isEmpty }
            .map { "\($0.0)=\(FormEncoding.escape($0.1))" }.joined(separator: "&")
    }
}

import AppleAccounts
import Pages
import StorageConformance
import TestSupport
import Testing

@testable import Console

/// The page of the audit log, and what pages record in it.
@Suite struct AuditPagesTests {
    private static let viewer = ConsoleViewer(
        name: "ops", scope: .all, isDevelopment: false, formToken: "token")

    /// Returns the page as HTML; `nil` for another answer.
    private static func html(
        _ store: any AuditReader, _ query: [String: String] = [:], of pages: AuditPages? = nil
    ) async throws -> String? {
        let page = try #require((pages ?? AuditPages(reader: store)).pages.first)
        let answer = try await page.handle(
            ConsoleRequest(requestID: "r-9", query: query, viewer: viewer, now: 9_000_000))
        return answer.html()
    }

    private static func entry(
        _ action: AuditAction = .consoleShow, by actor: AuditActor = .consoleOperator("ops"),
        at seconds: Int64 = 1, detail: String? = nil, account: AccountID? = nil
    ) -> AuditEntry {
        AuditEntry(
            action, by: AuditOrigin(actor, requestID: "r-\(seconds)"), at: Moment(seconds: seconds),
            detail: detail, person: account.map { AuditPerson($0) })
    }

    /// The numbers of the rows.
    private static func rows(_ html: String) -> [Int] { PageTree(html).rows().compactMap { Int($0[0]) } }

    @Test func `is one page, only for operators of all apps`() throws {
        let pages = AuditPages(reader: ReferenceStore()).pages
        #expect(pages.map(\.path) == ["/audit"])
        for page in pages {
            guard case .operatorsOfAllApps = page.access else {
                Issue.record("a limited operator sees \(page.path)")
                continue
            }
        }
    }

    @Test func `shows the newest rows first, with the head of the chain that it has verified`() async throws {
        let store = ReferenceStore()
        let account = try await store.signIn(.sample()).account
        try await store.appendAudit([
            Self.entry(at: 1),
            Self.entry(.accountDisabled, by: .apiKey("backend"), at: 2, account: account.id),
        ])
        let html = try #require(try await Self.html(store))
        #expect(Self.rows(html) == [2, 1])
        let head = try await store.auditChain().head
        #expect(html.contains(head.hashText))
        #expect(html.contains("up to row 2, the newest"))
        let page = PageTree(html)
        #expect(page.fact("All rows last read") == "at 1970-01-01T02:30:00.000Z, rows 1 to 2")
        #expect(page.fact("Rows whose user was erased") == "0")
        #expect(html.contains("api_key backend"))
        #expect(html.contains("href=\"/console/people/\(account.id.rawValue)\""))
        #expect(html.contains("1970-01-01 00:00:02"))
    }

    @Test func `an empty log is whole`() async throws {
        let html = try #require(try await Self.html(ReferenceStore()))
        #expect(html.contains("up to row 0, the newest") && html.contains("No row matches"))
        #expect(Self.rows(html) == [])
    }

    @Test func `escapes every text of a row and of the filter`() async throws {
        let store = ReferenceStore()
        try await store.appendAudit([
            Self.entry(by: .consoleOperator("<b>ops</b>"), detail: "<script>alert(1)</script>")
        ])
        let html = try #require(try await Self.html(store, ["actor": ""]))
        #expect(!html.contains("<script>") && !html.contains("<b>"))
        let filtered = try #require(try await Self.html(store, ["actor": "\"><script>"]))
        #expect(!filtered.contains("<script>"))
    }

    static let filters: [(query: [String: String], expected: [Int]?)] = [
        (["actor": "backend"], [4, 2]), (["actor": "api_key"], [4, 2]), (["actor": "apple"], [5]),
        (["action": "account_enabled"], [4]), (["action": "account_enabled", "actor": "apple"], []),
        (["until": "1970-01-01T00:00:03Z"], [3, 2, 1]), (["until": "1969-12-31"], nil),
        (["until": "1970-01-01"], [5, 4, 3, 2, 1]), (["from": "3-3"], [2, 1]),
        (["order": "oldest"], [1, 2, 3, 4, 5]),
        (["from": "3-3", "order": "oldest", "until": "1970-01-01T00:00:04Z"], [4]),
        (["from": "x"], [5, 4, 3, 2, 1]),
        (["from": "3-3", "until": "1970-01-01T00:00:01.5Z"], [1]),
        (["account": "acc_00000000-0000-0000-0000-00000000ffff"], []), (["account": "acc"], nil),
        (["action": "nothing"], nil), (["until": "yesterday"], nil),
    ]

    @Test(arguments: filters)
    func `filters by who, what, account and time`(query: [String: String], expected: [Int]?) async throws {
        let store = ReferenceStore()
        try await store.appendAudit([
            Self.entry(at: 1), Self.entry(.accountDisabled, by: .apiKey("backend"), at: 2), Self.entry(at: 3),
            Self.entry(.accountEnabled, by: .apiKey("backend"), at: 4),
            Self.entry(.grantEnded, by: .apple, at: 5),
        ])
        #expect(try await Self.html(store, query).map(Self.rows) == expected)
    }

    @Test func `leads from page to page through 120 rows, and past many rows that do not match`() async throws
    {
        let store = ReferenceStore()
        let account = try await store.signIn(.sample()).account
        for number in 1...120 as ClosedRange<Int64> {
            try await store.appendAudit([Self.entry(at: number, account: number == 7 ? account.id : nil)])
        }
        var seen: [Int] = []
        var query: [String: String] = [:]
        for _ in 0..<3 {
            let html = try #require(try await Self.html(store, query))
            seen += Self.rows(html)
            #expect(html.contains("\(121 - (Self.rows(html).first ?? 0)) to \(seen.count) of 120"))
            guard let next = PageTree(html).way("Next page") else { break }
            query = next
        }
        #expect(seen == Array((1...120).reversed()))
        let last = try #require(try await Self.html(store, query))
        let back = try #require(PageTree(last).way("Previous page"))
        let middle = try #require(try await Self.html(store, back))
        #expect(Self.rows(middle) == Array((21...70).reversed()))
        #expect(PageTree(middle).way("Previous page") == [:])
        let own = try #require(try await Self.html(store, ["account": account.id.rawValue]))
        #expect(Self.rows(own) == [7])
    }

    @Test func `says which row is broken, and goes on from what it has verified`() async throws {
        let store = ReferenceStore()
        try await store.appendAudit((1...9).map { Self.entry(at: $0) })
        let forging = ForgingReader(store)
        let pages = AuditPages(reader: forging)
        let before = try #require(try await Self.html(forging, of: pages))
        #expect(before.contains("up to row 9, the newest"))
        let whole = try #require(try await Self.html(ForgingReader(store, forged: 5)))
        #expect(whole.contains("broken: row 5 was changed"))
        try await store.appendAudit([Self.entry(at: 10)])
        let after = try #require(try await Self.html(forging, of: pages))
        #expect(after.contains("up to row 10, the newest"))
    }

    @Test func `what a page writes names the operator and the request`() async throws {
        let store = ReferenceStore()
        let page = ConsolePage(.post, "/x", access: .operators) { request in
            try await store.appendAudit([AuditEntry(.consoleShow, by: .current, at: request.now)])
            return .notFound
        }
        _ = try await page.handle(ConsoleRequest(requestID: "r-1", viewer: Self.viewer, now: 7_000_000))
        let row = try #require(try await store.verifiedAudit().first)
        #expect(row.facts.actor == .consoleOperator("ops") && row.facts.requestID == "r-1")
        #expect(row.facts.moment == 7_000_000 && row.facts.outcome == .done)
    }
}

/// A reader that shows one row with another action.
private struct ForgingReader: AuditReader {
    let store: ReferenceStore
    let forged: Int64?

    init(_ store: ReferenceStore, forged: Int64? = nil) { (self.store, self.forged) = (store, forged) }

    func auditChain() async throws -> AuditChain { try await store.auditChain() }

    func auditRows(after sequence: Int64, limit: Int) async throws -> [AuditRow] {
        try await store.auditRows(after: sequence, limit: limit).map { row in
            guard row.sequence == forged else { return row }
            let facts = AuditFacts(
                moment: row.facts.moment, actor: row.facts.actor, action: .accountErased,
                requestID: row.facts.requestID)
            return AuditRow(
                SealedAuditEntry(facts: facts, personDigest: nil, person: nil), link: row.link)
        }
    }

    func auditRows(before sequence: Int64, of account: AccountID?, limit: Int) async throws -> [AuditRow] {
        try await store.auditRows(before: sequence, of: account, limit: limit)
    }

    func auditSequence(at moment: Moment) async throws -> Int64 { try await store.auditSequence(at: moment) }
}

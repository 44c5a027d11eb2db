import AppAttestation
import AppleAccounts
import Cryptography
import StorageConformance
import TestSupport
import Testing

@testable import Commits
@testable import SignIn

/// The purge of the audit log under clocks that are right and wrong.
@Suite struct AuditRetentionTests {
    private static let day: Int64 = 86_400_000
    /// The day on which the log has 500 days.
    private static let today = Moment(milliseconds: 20_000 * day + day / 2)

    private let store = ReferenceStore()
    private let clock = ManualClock()

    /// A row at noon of each of the last days, the oldest first.
    private func fill(_ days: ClosedRange<Int64> = 0...500) async throws {
        for age in days.reversed() {
            try await store.appendAudit([
                AuditEntry(
                    .consoleShow, by: .service, at: Self.today.advanced(byMilliseconds: -age * Self.day))
            ])
        }
    }

    private func retention(
        at moment: Moment = today, secondsAhead: Int64? = 0, keptDays: Int64 = 400
    ) -> AuditRetention {
        AuditRetention(
            store: store, keptFor: keptDays * Self.day, secondsAhead: { secondsAhead }, clock: clock,
            now: { moment })
    }

    private var kept: Int {
        get async throws { try await store.verifiedAudit().count { $0.facts.action == .consoleShow } }
    }

    @Test func `keeps 400 days`() async throws {
        try await fill()
        try await retention().purge()
        #expect(try await kept == 401)
    }

    @Test(arguments: [1, 400, 730, 36_500] as [Int64])
    func `a clock that is days ahead deletes no more than a right one`(days: Int64) async throws {
        try await fill()
        let ahead = days * Self.day
        let wrong = retention(at: Self.today.advanced(byMilliseconds: ahead), secondsAhead: ahead / 1000)
        for _ in 0..<3 { try await wrong.purge() }
        #expect(try await kept == 401)
        #expect(try await store.verifiedAudit().last?.facts.moment == Self.today)
    }

    @Test func `a clock that is behind deletes later`() async throws {
        try await fill()
        let behind = -50 * Self.day
        try await retention(at: Self.today.advanced(byMilliseconds: behind), secondsAhead: behind / 1000)
            .purge()
        #expect(try await kept == 451)
    }

    @Test func `without Apple's time a day of rows goes in a day of uptime, at any clock`() async throws {
        try await fill()
        let unknown = retention(at: Self.today.advanced(byMilliseconds: 730 * Self.day), secondsAhead: nil)
        for _ in 0..<3 { try await unknown.purge() }
        #expect(try await kept == 501)
        for day in 1...3 {
            clock.advance(by: .seconds(86_400))
            for _ in 0..<3 { try await unknown.purge() }
            #expect(try await kept == 501 - day)
        }
        // A right clock still decides.
        let right = retention(secondsAhead: nil, keptDays: 495)
        try await right.purge()
        clock.advance(by: .seconds(10 * 86_400))
        try await right.purge()
        #expect(try await kept == 496)
    }

    /// With one row the first page has right rows too; with more than a page it has none.
    @Test(arguments: [1, 999, 1000, 1500])
    func `without Apple's time rows of a wrong clock before all others do not make the others old`(
        count: Int
    ) async throws {
        let wrong = Self.today.advanced(byMilliseconds: 3650 * Self.day)
        try await store.appendAudit(
            Array(repeating: AuditEntry(.consoleShow, by: .service, at: wrong), count: count))
        try await fill()
        // The machine starts again with the wrong time, some minutes before the rows.
        let unknown = retention(at: wrong.advanced(byMilliseconds: -300_000), secondsAhead: nil)
        for _ in 0..<3 { try await unknown.purge() }
        #expect(try await kept == count + 501)
        clock.advance(by: .seconds(86_400))
        for _ in 0..<3 { try await unknown.purge() }
        // A day of rows, with those before it; and none where no row of a right clock is in the first page.
        #expect(try await kept == (count < 1000 ? 500 : count + 501))
    }

    @Test func `without Apple's time rows of several clocks are in no exact order`() async throws {
        try await store.appendAudit([
            AuditEntry(
                .consoleShow, by: .service, at: Self.today.advanced(byMilliseconds: -500 * Self.day + 5))
        ])
        try await fill()
        let unknown = retention(secondsAhead: nil)
        try await unknown.purge()
        #expect(try await kept == 502)
        clock.advance(by: .seconds(86_400))
        try await unknown.purge()
        #expect(try await kept == 500)
    }

    @Test func `an empty log without Apple's time stays empty`() async throws {
        try await retention(secondsAhead: nil).purge()
        #expect(try await store.verifiedAudit().isEmpty)
    }
}

@Suite struct MaintenanceTests {
    let store = ReferenceStore()
    let feed = EventFeed()
    let clock = ManualClock()

    private func maintenance(at moment: Moment) -> Maintenance {
        Maintenance(
            store: store, commits: GroupCommit<AccountCommand>(store: store, feed: feed), feed: feed,
            interval: .seconds(60), clock: clock, secondsAhead: { nil }, now: { moment }, logger: .silent)
    }

    private func use(_ byte: UInt8, keptUntil moment: Moment) async throws {
        try await store.signIn(.sample(nonce: .sample(byte, keptUntil: moment)))
    }

    @Test func `forgets used nonces that no token can carry any more, again and again`() async throws {
        try await use(1, keptUntil: 4999)
        try await use(2, keptUntil: 5000)
        let running = Task { try await maintenance(at: 5000).run() }
        await clock.sleeper()
        #expect(try await store.purgeNonces(expiredBefore: 5000) == 0)
        try await use(3, keptUntil: 100)
        clock.advance(by: .seconds(60))
        await clock.sleeper()
        #expect(try await store.purgeNonces(expiredBefore: 5000) == 0)
        #expect(try await store.purgeNonces(expiredBefore: 5001) == 1)
        running.cancel()
        try await running.value
    }

    @Test func `deletes keys of App Attest that were not used for 400 days`() async throws {
        try await store.register(.sample(challenge: 1))
        let end = Moment(milliseconds: 1_000_000 + AttestedKeyRecord.keptUnused)
        await maintenance(at: end).purgeAttestedKeys()
        #expect(try await store.attestedKey(.sample()) != nil)
        await maintenance(at: end.advanced(byMilliseconds: 1)).purgeAttestedKeys()
        #expect(try await store.attestedKey(.sample()) == nil)
    }

    @Test func `deletes entries of histories after 90 days`() async throws {
        let account = try await store.signIn(.sample(authorizedAt: 1000)).account
        try await store.notify(.sample(at: 500))
        let end = Moment(milliseconds: 17_500 + HistoryEntry.keptFor)
        await maintenance(at: end).purgeHistory()
        #expect(try await store.history(of: account.id, limit: 9).count == 1)
        await maintenance(at: end.advanced(byMilliseconds: 1)).purgeHistory()
        #expect(try await store.history(of: account.id, limit: 9) == [])
    }

    @Test func `forgets tickets whose time is over`() async throws {
        for (byte, end) in [(1, 999), (2, 1000)] as [(UInt8, Moment)] {
            let ticket = Ticket(
                digest: TicketDigest(.hash([byte])), purpose: .webState, payload: [], expiresAt: end)
            #expect(try await store.insertTicket(ticket))
        }
        await maintenance(at: 1000).purgeTickets()
        #expect(try await store.purgeTickets(expiredBefore: 1000) == 0)
        #expect(try await store.purgeTickets(expiredBefore: 1001) == 1)
    }

    @Test func `forgets transfers whose time is over`() async throws {
        for (name, end) in [("a", 999), ("b", 1000)] as [(AppleSubject, Moment)] {
            try await store.importTransfers([
                TransferRecord(
                    recipientTeam: "OTHERTEAM1", transferSubject: name, accountID: AccountID(.sample(1)),
                    from: nil, createdAt: 1, expiresAt: end)
            ])
        }
        let running = Task { try await maintenance(at: 1000).run() }
        await clock.sleeper()
        #expect(try await store.purgeTransfers(expiredBefore: 1000) == 0)
        #expect(try await store.purgeTransfers(expiredBefore: 1001) == 1)
        running.cancel()
        try await running.value
    }

    @Test func `forgets counts of App Check after seven days`() async throws {
        let target = AppCheckTarget.app(bundleID: "com.example.app")
        let week: Int64 = 7 * 86_400
        for hour in [0, 3600, 7200] as [Int64] {
            try await store.addAppCheckHours([
                AppCheckHour(target: target, hour: hour, tally: AppCheckTally(verified: 1))
            ])
        }
        await maintenance(at: Moment(seconds: week + 7199)).purgeAppCheckHours()
        #expect(try await store.appCheckHours(of: [target], from: 0).map(\.hour) == [3600, 7200])
    }

    @Test func `deletes the service's own numbers that are more than seven days old`() async throws {
        let hour = ServiceHourCount.milliseconds
        for begin in [0, hour, 2 * hour] {
            try await store.setServiceHours([
                ServiceHourCount(replica: "a", hour: Moment(milliseconds: begin), name: "sign_in", count: 1)
            ])
        }
        let week = ServiceHourCount.kept
        await maintenance(at: Moment(milliseconds: week + 2 * hour - 1)).purgeServiceHours()
        #expect(
            try await store.serviceHours(from: Moment(milliseconds: 0)).map(\.hour.milliseconds)
                == [hour, 2 * hour])
    }

    @Test func `enables every account whose time is over, once, and tells the feed`() async throws {
        for number in 0..<(Maintenance.mostEnabled + 20) {
            let key = SubjectKey.sample(AppleSubject(stringLiteral: "user-\(number)"))
            let account = try await store.signIn(.sample(key: key)).account
            try await store.change(DisableCommand.sample(account, until: 5_000_000))
        }
        let other = try await store.signIn(.sample(key: .sample("other"))).account
        try await store.change(DisableCommand.sample(other, until: 5_000_001))
        await maintenance(at: 4_999_999).enableAccounts()
        #expect(try await store.allEvents().count { $0.kind == .accountEnabled } == 0)
        await maintenance(at: 5_000_000).enableAccounts()
        await maintenance(at: 5_000_000).enableAccounts()
        let told = try await store.allEvents().filter { $0.kind == .accountEnabled }
        #expect(told.count == Maintenance.mostEnabled + 20)
        #expect(told.allSatisfy { $0.moment == 5_000_000 })
        #expect(try await store.account(other.id)?.disabling != nil)
    }

    @Test func `sends waiting readers away when it ends`() async throws {
        let running = Task { try await maintenance(at: 0).run() }
        await clock.sleeper()
        running.cancel()
        try await running.value
        #expect(try await feed.waitForMore(after: 0) == nil)
    }
}

import AppleAccounts
import StorageConformance
import Synchronization
import TestSupport
import Testing

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
        let wrong = retention(
            at: Self.today.advanced(byMilliseconds: ahead), secondsAhead: ahead / 1000)
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

    @Test func `without Apple's time a day of rows goes in a day of uptime, whatever the clock says`()
        async throws
    {
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

import Testing

@testable import AppAttestation

@Suite struct AppCheckCountsTests {
    private let app = AppCheckTarget.app(bundleID: "com.example.app")
    private let client = AppCheckTarget.oauthClient(id: "ios")

    private func counts() throws -> AppCheckCounts {
        AppCheckCounts(
            of: AppCheckPolicies([
                try AppCheckPolicy.sample(.monitored), try AppCheckPolicy.sample(.enforced, target: client),
            ]))
    }

    @Test func `counts by target, hour and kind, and gives each count away once`() throws {
        let counts = try counts()
        counts.add(.verified, for: app, at: 7199)
        counts.add(.verified, for: app, at: 7200)
        counts.add(.invalid, for: app, at: 10_799)
        counts.add(.outdatedApp, for: client, at: 7200)
        #expect(
            counts.take() == [
                AppCheckHour(target: app, hour: 3600, tally: AppCheckTally(verified: 1)),
                AppCheckHour(target: app, hour: 7200, tally: AppCheckTally(verified: 1, invalid: 1)),
                AppCheckHour(target: client, hour: 7200, tally: AppCheckTally(outdatedApp: 1)),
            ])
        #expect(counts.take().isEmpty)
        #expect(counts.totals(of: app) == AppCheckTally(verified: 2, invalid: 1))
    }

    @Test func `takes back what was not stored, and adds it to what came meanwhile`() throws {
        let counts = try counts()
        counts.add(.unknownOrigin, for: app, at: 0)
        let taken = counts.take()
        counts.add(.unknownOrigin, for: app, at: 1)
        counts.putBack(taken)
        #expect(
            counts.take() == [AppCheckHour(target: app, hour: 0, tally: AppCheckTally(unknownOrigin: 2))])
        #expect(counts.totals(of: app) == AppCheckTally(unknownOrigin: 2))
    }

    @Test func `counts no target that is not configured`() throws {
        let counts = try counts()
        for number in 0..<10_000 { counts.add(.invalid, for: .app(bundleID: "com.\(number)"), at: 0) }
        #expect(counts.take().isEmpty)
    }

    @Test func `keeps 48 hours while nothing is stored, and counts what it drops`() throws {
        let counts = try counts()
        for hour in 0..<Int64(AppCheckCounts.mostHours + 3) {
            counts.add(.verified, for: app, at: hour * 3600)
            counts.add(.invalid, for: client, at: hour * 3600)
        }
        #expect(counts.dropped == 6)
        let taken = counts.take()
        #expect(taken.count == 2 * AppCheckCounts.mostHours)
        #expect(taken.map(\.hour).min() == 10_800)
    }

    @Test func `loses nothing when requests are counted while the counts are taken`() async throws {
        let counts = try counts()
        let taken = await withTaskGroup(of: Int64.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<2500 { counts.add(.verified, for: self.app, at: 60) }
                    return 0
                }
            }
            group.addTask {
                var sum: Int64 = 0
                for round in 0..<500 {
                    let hours = counts.take()
                    if round.isMultiple(of: 3) {
                        counts.putBack(hours)
                    } else {
                        sum += hours.reduce(0) { $0 + $1.tally.total }
                    }
                }
                return sum
            }
            return await group.reduce(0, +)
        }
        let rest = counts.take().reduce(0) { $0 + $1.tally.total }
        #expect(taken + rest == 10_000)
        #expect(counts.totals(of: app).verified == 10_000)
    }

    @Test func `an hour begins at a multiple of 3600 seconds, also before 1970`() {
        #expect(AppCheckHour.beginning(of: 3599) == 0)
        #expect(AppCheckHour.beginning(of: 3600) == 3600)
        #expect(AppCheckHour.beginning(of: .min) == 0)
    }
}

import AppleAccounts
import StorageConformance
import Testing

@testable import EventDelivery

/// Claims of receivers as another replica sees them.
@Suite struct ClaimWatchTests {
    private static func moment(_ milliseconds: Int64) -> Moment {
        Moment(milliseconds: DeliveryWorld.start + milliseconds)
    }

    private static func record(claims: Int64 = 1, end: Int64) -> ReceiverRecord {
        ReceiverRecord(name: "backend", cursor: 0, claims: claims, notBefore: moment(end))
    }

    /// Looks at these times. Returns the times at which the claim was silent.
    private static func silences(at times: [Int64], _ record: (Int64) -> ReceiverRecord) -> [Int64] {
        var watch = ClaimWatch()
        return times.filter { !watch.look(at: [record($0)], now: moment($0)).silent.isEmpty }
    }

    private static let halfSeconds = (0..<120).map { $0 * ClaimWatch.interval }

    @Test func `a claim that does not change is silent after three seconds`() {
        #expect(Self.silences(at: Self.halfSeconds) { _ in Self.record(end: 900_000) }.first == 3000)
    }

    @Test(arguments: [500, 1000, 2000, 2400] as [Int64])
    func `a claim that is written again is not silent`(interval: Int64) {
        let silences = Self.silences(at: Self.halfSeconds) {
            Self.record(end: $0 / interval * interval + 30_000)
        }
        #expect(silences == [])
    }

    @Test(arguments: [-25_000, -10_000, 10_000, 600_000] as [Int64])
    func `the clock of the other replica does not matter, as long as its claims are in the future`(
        ahead: Int64
    ) {
        let written = Self.silences(at: Self.halfSeconds) {
            Self.record(end: $0 / 1000 * 1000 + 30_000 + ahead)
        }
        #expect(written == [])
        let silent = Self.silences(at: [0, 1000, 2000, 3000]) { _ in Self.record(end: 30_000 + ahead) }
        #expect(silent == [3000])
    }

    @Test func `a claim of another holder is watched from its beginning`() {
        let silences = Self.silences(at: Self.halfSeconds) {
            Self.record(claims: $0 < 2500 ? 1 : 2, end: 900_000)
        }
        #expect(silences.first == 5500)
    }

    @Test func `a replica that writes its position alone gives a sign of life`() {
        let silences = Self.silences(at: Self.halfSeconds) { time in
            var record = Self.record(end: 900_000)
            record.cursor = time / 1000
            return record
        }
        #expect(silences == [])
    }

    @Test func `the time in which this replica could not look does not count`() {
        let silences = Self.silences(at: [0, 1000, 2000, 8000, 9000, 10_000, 11_000]) { _ in
            Self.record(end: 900_000)
        }
        #expect(silences == [11_000])
    }

    @Test func `a clock that was set back begins the time anew`() {
        let silences = Self.silences(at: [2000, 3000, 1000, 2000, 3000, 4000]) { _ in
            Self.record(end: 900_000)
        }
        #expect(silences == [4000])
    }

    @Test func `without a claim there is no next look`() {
        var watch = ClaimWatch()
        let next = [[Self.record(end: 0)], [], [Self.record(end: 1)]].map {
            watch.look(at: $0, now: Self.moment(0)).next
        }
        #expect(next == [nil, nil, Self.moment(500)])
    }
}

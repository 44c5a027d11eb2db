import AppleAccounts
import Console
import HTTPAPI
import KeySets
import Testing

@testable import siwa

@Suite struct WaitingWorkTests {
    private static let hour: Int64 = 3_600_000

    private static func receiver(
        _ name: String, cursor: Int64, retries: [DeliveryRetry] = []
    ) throws -> ClaimedReceiver {
        ClaimedReceiver(
            record: ReceiverRecord(
                name: try #require(ReceiverName(name)), cursor: cursor, notBefore: Moment(milliseconds: 0),
                pausedAt: nil),
            retries: retries)
    }

    private static func event(_ sequence: Int64, recordedAt: Moment) throws -> AccountEvent {
        AccountEvent(
            sequence: sequence, id: EventID(UniqueID(high: 1, low: UInt64(sequence))), kind: .profileChanged,
            team: try #require(TeamID("A1B2C3D4E5")), subject: nil, moment: recordedAt, recordedAt: recordedAt
        )
    }

    @Test func `the age of events is that of the first that a receiver has not got, without any failure`()
        throws
    {
        let work = WaitingWork(
            receivers: [
                try Self.receiver("late", cursor: 3), try Self.receiver("done", cursor: 9),
                try Self.receiver(
                    "failing", cursor: 9,
                    retries: [
                        DeliveryRetry(
                            sequence: 2, attempts: 4, dueAt: Moment(milliseconds: 9 * Self.hour),
                            waitingSince: Moment(milliseconds: Self.hour))
                    ]),
            ], next: [try Self.event(4, recordedAt: Moment(milliseconds: 2 * Self.hour))], deadline: nil)
        let ages = Dictionary(uniqueKeysWithValues: work.oldest.map { ($0.key.rawValue, $0.value) })
        #expect(
            ages == [
                "late": Moment(milliseconds: 2 * Self.hour), "failing": Moment(milliseconds: Self.hour),
            ])
    }

    @Test func `the overview has the age and the deadline`() throws {
        let registry = MetricsRegistry()
        let now = Moment(milliseconds: 10 * Self.hour)
        var condition = ServiceCondition(now: now, keys: KeySetHealth(status: .ready, keyCount: 1))
        condition.queues = [QueueCondition(.erasure, count: 1, oldest: 0)]
        let deadline = Moment(milliseconds: 99 * Self.hour)
        condition.add(
            WaitingWork(receivers: [], next: [], deadline: deadline), waiting: registry, at: now)
        #expect(condition.queues.map(\.deadline) == [deadline])
    }
}

import AppleAccounts
import Testing

@testable import siwa

@Suite struct ReceiverStatesTests {
    private static func states(
        cursor: Int64 = 9, retries: [DeliveryRetry] = [], pausedAt: Moment? = nil,
        configured: [String] = ["backend"]
    ) throws -> ReceiverStates {
        let name = try #require(ReceiverName("backend"))
        let record = ReceiverRecord(
            name: name, cursor: cursor, notBefore: Moment(milliseconds: 0), pausedAt: pausedAt)
        return ReceiverStates(
            configured: configured.compactMap { ReceiverName($0) },
            stored: [ClaimedReceiver(record: record, retries: retries)], lastSequence: 9)
    }

    private static func retry(attempts: Int64) -> DeliveryRetry {
        let since = Moment(milliseconds: 1_800_000_000_000)
        return DeliveryRetry(sequence: 3, attempts: attempts, dueAt: since, waitingSince: since)
    }

    @Test func `a receiver without anything that waits is good`() throws {
        let states = try Self.states()
        #expect(states.lines == ["backend: up to date"])
        #expect(states.findings.map(\.verdict) == [.good])
    }

    @Test func `a receiver that has not taken an event is a note`() throws {
        let states = try Self.states(cursor: 4, retries: [Self.retry(attempts: 2), Self.retry(attempts: 0)])
        #expect(
            states.lines
                == ["backend: up to 7 events wait; 2 attempts failed since 2027-01-15T08:00:00.000Z"])
        #expect(states.findings.map(\.verdict) == [.note])
    }

    @Test func `a paused receiver is wrong, and the advice resumes it`() throws {
        let states = try Self.states(cursor: 4, pausedAt: Moment(milliseconds: 1_800_000_000_000))
        #expect(states.lines == ["backend: paused since 2027-01-15T08:00:00.000Z; up to 5 events wait"])
        #expect(states.findings.map(\.verdict) == [.wrong])
        #expect(states.findings.first?.advice?.contains("siwa deliveries resume backend") == true)
    }

    @Test func `new receivers and receivers that are no longer configured are shown`() throws {
        let states = try Self.states(configured: ["mail"])
        #expect(states.lines.count == 2)
        #expect(states.lines[0].hasPrefix("backend: not configured"))
        #expect(states.lines[1].hasPrefix("mail: new"))
        #expect(states.findings.map(\.verdict) == [.note])
    }
}

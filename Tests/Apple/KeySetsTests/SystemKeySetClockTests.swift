import AppleIdentity
import KeySets
import TestSupport
import Testing

@Suite struct SystemKeySetClockTests {
    private let clock = SystemKeySetClock()

    @Test func `returns the system time`() {
        let first = clock.millisecondsSince1970
        // 2026 to 2100 in milliseconds, not in seconds or microseconds.
        #expect((1_767_225_600_000...4_102_444_800_000).contains(first))
        #expect(clock.now >= NumericDate(clampingSecondsSince1970: first / 1000))
    }

    @Test(.timeLimit(.hung), arguments: [Int64.min, -1, 0, 1_000])
    func `does not sleep until a time that has passed`(moment: Int64) async throws {
        try await clock.sleep(untilMilliseconds: moment)
    }

    @Test(.timeLimit(.hung), arguments: [Int64.max, 4_102_444_800_000])
    func `wakes up when cancelled`(moment: Int64) async {
        let sleeper = Task { try await clock.sleep(untilMilliseconds: moment) }
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
    }
}

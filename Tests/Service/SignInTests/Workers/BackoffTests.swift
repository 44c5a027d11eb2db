import Testing

@testable import SignIn

@Suite struct BackoffTests {
    let backoff = Backoff(first: .seconds(1), longest: .seconds(30))

    @Test(arguments: zip(1...8, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000] as [Int64]))
    func `doubles up to the longest, with at most a quarter more`(attempts: Int, base: Int64) {
        for _ in 0..<100 {
            #expect((base...base + base / 4).contains(backoff.delay(after: attempts)))
        }
    }

    @Test func `is spread`() {
        #expect(Set((0..<100).map { _ in backoff.delay(after: 6) }).count > 10)
    }

    @Test(arguments: [Int.min, -1, 0]) func `takes no attempt for the first`(attempts: Int) {
        #expect((1000...1250).contains(backoff.delay(after: attempts)))
    }

    @Test(arguments: [41, 63, 64, 1000, Int.max]) func `stays at the longest for ever`(attempts: Int) {
        #expect((30_000...37_500).contains(backoff.delay(after: attempts)))
        let hours = Backoff(first: .seconds(1), longest: .seconds(3600))
        #expect((3_600_000...4_500_000).contains(hours.delay(after: attempts)))
    }
}

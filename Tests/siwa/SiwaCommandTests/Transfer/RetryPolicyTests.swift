import AppleIDClient
import Testing

@testable import siwa

@Suite struct RetryPolicyTests {
    static let lost = AppleCallError(.connectionLost)
    static let refused = AppleCallError(.rejected, appleError: .invalidRequest)

    @Test func `retries several times with growing delays`() {
        var policy = RetryPolicy()
        #expect(policy.decide(on: Self.lost, attempt: 1) == .retry(after: .seconds(1)))
        #expect(policy.decide(on: Self.lost, attempt: 2) == .retry(after: .seconds(2)))
        #expect(policy.decide(on: Self.lost, attempt: 3) == .retry(after: .seconds(4)))
        #expect(policy.decide(on: Self.lost, attempt: 4) == .fail)
    }

    @Test func `waits as long as Apple asks, but at most a minute`() {
        var policy = RetryPolicy()
        let slow = AppleCallError(.throttled, retryAfter: .seconds(20))
        #expect(policy.decide(on: slow, attempt: 1) == .retry(after: .seconds(20)))
        let slower = AppleCallError(.throttled, retryAfter: .seconds(3600))
        #expect(policy.decide(on: slower, attempt: 1) == .retry(after: .seconds(60)))
    }

    @Test func `a refused call fails at once, and the others continue`() {
        var policy = RetryPolicy()
        for _ in 0..<100 { #expect(policy.decide(on: Self.refused, attempt: 1) == .fail) }
    }

    @Test(arguments: [
        AppleCallError(.rejected, appleError: .invalidClient), AppleCallError(.noSigningKey),
        AppleCallError(.signingFailed),
    ])
    func `an error that affects all calls stops the run`(error: AppleCallError) {
        var policy = RetryPolicy()
        #expect(policy.decide(on: error, attempt: 1) == .stop)
    }

    @Test func `many calls without a response stop the run, unless one succeeds`() {
        var policy = RetryPolicy()
        for _ in 1..<RetryPolicy.patience { #expect(policy.decide(on: Self.lost, attempt: 4) == .fail) }
        policy.succeeded()
        for _ in 1..<RetryPolicy.patience { #expect(policy.decide(on: Self.lost, attempt: 4) == .fail) }
        #expect(policy.decide(on: Self.lost, attempt: 4) == .stop)
    }
}

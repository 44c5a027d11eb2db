import AppleAccounts
import AppleIDClient
import StorageConformance
import Testing

@testable import SignIn

@Suite struct ExchangeAttemptTests {
    private func attempt(_ number: Int = 1, isInterrupted: Bool = false) -> ExchangeAttempt {
        ExchangeAttempt(number: number, isInterrupted: isInterrupted, expiresAt: 300_000)
    }

    @Test(arguments: [.unreachable, .circuitOpen, .serverFailed, .throttled] as [AppleCallError.Code])
    func `tries again what granted nothing, within the code's life`(code: AppleCallError.Code) {
        let error = AppleCallError(code)
        #expect(attempt().verdict(on: error, at: 1000, delay: 2000) == .tryAgain(at: 3000))
        // The last attempt is made while the code is still good.
        #expect(attempt(9).verdict(on: error, at: 290_000, delay: 30_000) == .tryAgain(at: 298_000))
        #expect(attempt(9).verdict(on: error, at: 298_000, delay: 30_000) == .giveUp(.codeExpired))
        #expect(attempt(9).verdict(on: error, at: .last, delay: .max) == .giveUp(.codeExpired))
        #expect(
            attempt(9, isInterrupted: true).verdict(on: error, at: 299_000, delay: 1)
                == .giveUp(.exchangeUncertain))
    }

    @Test(arguments: [.timedOut, .connectionLost, .responseUnusable] as [AppleCallError.Code])
    func `never sends a code twice that may have been used`(code: AppleCallError.Code) {
        for attempt in [attempt(), attempt(3), attempt(isInterrupted: true)] {
            #expect(
                attempt.verdict(on: AppleCallError(code), at: 1000, delay: 1) == .giveUp(.exchangeUncertain))
        }
    }

    @Test(arguments: AppleErrorCode.allCases)
    func `takes Apple's refusal for the end`(error: AppleErrorCode) {
        let refusal = AppleCallError(.rejected, appleError: error)
        let isClient = error == .invalidClient || error == .unauthorizedClient
        #expect(
            attempt().verdict(on: refusal, at: 1, delay: 1)
                == .giveUp(isClient ? .clientRejected : .codeRejected))
        // After an attempt without an end a refusal does not say that the code was bad.
        for attempt in [attempt(2), attempt(isInterrupted: true)] {
            #expect(
                attempt.verdict(on: refusal, at: 1, delay: 1)
                    == .giveUp(isClient ? .clientRejected : .exchangeUncertain))
        }
    }

    @Test func `waits as long as Apple asks for`() {
        let error = AppleCallError(.throttled, retryAfter: .seconds(60))
        #expect(attempt().verdict(on: error, at: 0, delay: 1000) == .tryAgain(at: 60_000))
        let soon = AppleCallError(.throttled, retryAfter: .milliseconds(1))
        #expect(attempt().verdict(on: soon, at: 0, delay: 1000) == .tryAgain(at: 1000))
    }

    @Test func `tells a missing key from a broken one`() {
        #expect(
            attempt().verdict(on: AppleCallError(.noSigningKey), at: 0, delay: 1) == .giveUp(.noSigningKey))
        let broken = AppleCallError(.signingFailed)
        #expect(attempt().verdict(on: broken, at: 0, delay: 1000) == .tryAgain(at: 1000))
        #expect(attempt().verdict(on: broken, at: 299_000, delay: 1000) == .giveUp(.noSigningKey))
    }

    @Test func `does not ask when the time is over`() {
        #expect(attempt().refusal(at: 299_999) == nil)
        #expect(attempt().refusal(at: 300_000) == .codeExpired)
        #expect(attempt(isInterrupted: true).refusal(at: 300_000) == .exchangeUncertain)
    }

    @Test func `waits while its client ID rests, but for the last attempt`() {
        let attempt = ExchangeAttempt(number: 1, isInterrupted: false, expiresAt: 300_000)
        #expect(attempt.later(60_000, at: 30_000) == 60_000)
        #expect(attempt.later(320_000, at: 290_000) == 298_000)
        #expect(attempt.later(320_000, at: 298_000) == nil)
    }
}

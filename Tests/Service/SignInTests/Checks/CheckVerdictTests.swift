import AppleIDClient
import Testing

@testable import SignIn

@Suite struct CheckVerdictTests {
    @Test func `believes only one answer about the user`() {
        for code in AppleCallError.Code.allCases {
            #expect(CheckVerdict(AppleCallError(code)) != .rejected)
        }
        for error in AppleErrorCode.allCases {
            let verdict = CheckVerdict(AppleCallError(.rejected, appleError: error))
            #expect((verdict == .rejected) == (error == .invalidGrant))
        }
    }

    @Test(
        arguments: [
            (.unreachable, .notAsked), (.circuitOpen, .notAsked), (.throttled, .throttled),
            (.noSigningKey, .refusedUs), (.signingFailed, .refusedUs), (.timedOut, .unknown),
            (.connectionLost, .unknown), (.responseUnusable, .unknown), (.serverFailed, .unknown),
        ] as [(AppleCallError.Code, CheckVerdict)])
    func `asks again within the day only where Apple was surely not asked`(
        code: AppleCallError.Code, verdict: CheckVerdict
    ) {
        #expect(CheckVerdict(AppleCallError(code)) == verdict)
    }

    @Test(arguments: [.invalidClient, .unauthorizedClient] as [AppleErrorCode])
    func `takes a refused client for our own fault`(error: AppleErrorCode) {
        #expect(CheckVerdict(AppleCallError(.rejected, appleError: error)) == .refusedUs)
    }
}

import AppleAccounts
import AppleIDClient
import StorageConformance
import TestSupport
import Testing

@testable import SignIn

@Suite struct ErasureActionTests {
    @Test func `believes a refused refresh and nothing else`() {
        #expect(ErasureAction(afterProof: .invalidGrant) == .finish(.provenRevoked, cause: nil))
        #expect(ErasureAction(afterProof: nil) == .retry(.revoke, cause: "still_valid"))
        for code in AppleCallError.Code.allCases where code != .noSigningKey {
            #expect(
                ErasureAction(afterProof: AppleCallError(code)) == .retry(.prove, cause: code.rawValue))
        }
        for error in AppleErrorCode.allCases where error != .invalidGrant {
            #expect(
                ErasureAction(afterProof: AppleCallError(.rejected, appleError: error))
                    == .retry(.prove, cause: error.rawValue))
        }
    }

    @Test func `asks for the proof after any answer about the token, and again after none`() {
        #expect(ErasureAction(afterRevocation: nil) == .proceed(.prove))
        for error in AppleErrorCode.allCases {
            let action = ErasureAction(afterRevocation: AppleCallError(.rejected, appleError: error))
            let isClient = error == .invalidClient || error == .unauthorizedClient
            #expect(action == (isClient ? .retry(.revoke, cause: error.rawValue) : .proceed(.prove)))
        }
        for code in AppleCallError.Code.allCases where code != .noSigningKey && code != .rejected {
            #expect(
                ErasureAction(afterRevocation: AppleCallError(code))
                    == .retry(.revoke, cause: code.rawValue))
        }
    }

    @Test func `ends at once without a key to sign with`() {
        let end = ErasureAction.finish(.notRevoked, cause: "no_signing_key")
        #expect(ErasureAction(afterProof: AppleCallError(.noSigningKey)) == end)
        #expect(ErasureAction(afterRevocation: AppleCallError(.noSigningKey)) == end)
    }

    @Test func `ends at the deadline in any case`() throws {
        var generator = SeededGenerator(seed: 1)
        var token = ErasureToken(
            id: UniqueID(at: 0, using: &generator), clientID: "com.example.app",
            primaryClientID: "com.example.app", kind: .refreshToken, step: .prove, nextAttemptAt: 0,
            sealed: SealedSecret([1]))
        let again = ErasureAction.retry(.revoke, cause: "still_valid")
        token.apply(again, at: 1000, lease: 31_000, delay: 5000, deadline: 10_000)
        #expect(token.step == .revoke)
        #expect(token.nextAttemptAt == 6000)
        #expect(token.cause == "still_valid")
        token.apply(.proceed(.prove), at: 6000, lease: 36_000, delay: 5000, deadline: 10_000)
        #expect(token.step == .prove)
        #expect(token.nextAttemptAt == 36_000)
        // The last attempt is made at the deadline.
        token.apply(again, at: 7000, lease: 37_000, delay: 5000, deadline: 10_000)
        #expect(token.nextAttemptAt == 10_000)
        token.apply(again, at: 10_000, lease: 40_000, delay: 5000, deadline: 10_000)
        #expect(token.step == .done(.notRevoked))
        #expect(token.cause == "still_valid")
        #expect(token.sealed == nil)
    }
}

import AppleIDClient
import Testing

@Suite struct AppleCallErrorTests {
    @Test(arguments: AppleCallError.Code.allCases)
    func `a call may have happened when it was sent but not answered`(code: AppleCallError.Code) {
        let uncertain: Set<AppleCallError.Code> = [
            .timedOut, .connectionLost, .responseUnusable, .serverFailed,
        ]
        #expect(AppleCallError(code).mayHaveHappened == uncertain.contains(code))
    }

    @Test(arguments: AppleCallError.Code.allCases)
    func `only Apple's own refusal is final`(code: AppleCallError.Code) {
        #expect(AppleCallError(code).isFinal == (code == .rejected))
    }

    @Test(arguments: AppleErrorCode.allCases)
    func `a refused client is an error of the configuration`(word: AppleErrorCode) {
        let error = AppleCallError(.rejected, appleError: word)
        #expect(error.isOfConfiguration == [.invalidClient, .unauthorizedClient].contains(word))
    }

    @Test func `its description has no detail`() {
        let error = AppleCallError(.rejected, appleError: .invalidGrant, detail: "c0de")
        #expect("\(error)" == "call to Apple failed: rejected (invalid_grant)")
        #expect(String(reflecting: error).contains("c0de"))
    }
}

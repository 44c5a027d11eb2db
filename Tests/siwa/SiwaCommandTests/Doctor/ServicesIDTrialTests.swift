import Testing

@testable import siwa

@Suite struct ServicesIDTrialTests {
    static func verdict(_ status: Int?, _ text: String = "") -> Finding.Verdict {
        ServicesIDTrial(
            clientID: "com.example.web", returnURL: "https://signin.example.com/v1/web/callback",
            page: status.map { ServicesIDTrial.Page(status: $0, text: text) }
        ).finding.verdict
    }

    @Test func `a page that asks for an account is good`() {
        #expect(Self.verdict(200, "<title>Sign in to Apple Account</title>") == .good)
        #expect(Self.verdict(302) == .good)
    }

    @Test(arguments: [400, 403], ["invalid_client", "invalid_request", "unauthorized_client"])
    func `an error that Apple names is wrong`(status: Int, error: String) {
        #expect(Self.verdict(status, "<p>\(error)</p>") == .wrong)
        #expect(Self.verdict(status, #"{"error": "\#(error)"}"#) == .wrong)
    }

    /// An unknown response must not make an operator change a working configuration.
    @Test func `any other answer is a note`() {
        #expect(Self.verdict(nil) == .note)
        #expect(Self.verdict(503) == .note)
        #expect(Self.verdict(403, "Forbidden by a proxy") == .note)
        #expect(Self.verdict(200, "const errors = ['invalid_client']") == .note)
    }
}

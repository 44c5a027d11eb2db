import Testing

@testable import AuthorizationServer

@Suite struct AppFlipMessageTests {
    /// The message follows the title of the consent page: an account is linked *to* Google.
    @Test(arguments: [
        (AppFlipOutcome.code, "بـ Google", "Google’a bağl"), (.accessDenied, "بـ Google", "Google’a bağl"),
        (.unrecoverable, "بـ Google", "Google’a bağl"),
    ])
    func `the messages have the verb of the page`(outcome: AppFlipOutcome, arabic: String, turkish: String) {
        #expect(outcome.message[.arabic].contains(arabic))
        #expect(outcome.message[.turkish].contains(turkish))
    }
}

import AppleAccounts
import Foundation
import Testing

@testable import AuthorizationServer
@testable import OAuthFixtures

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

    @Test
    func
        `a disabled account has a sentence of its own in every language, and others have that of the outcome`()
    {
        let outcome = AppFlipOutcome.unrecoverable
        for language in [PageLanguage.english, .arabic, .turkish, .polish] {
            for obstacle in AppFlipObstacle.allCases where obstacle.outcome == outcome {
                let isOwn = obstacle.message(in: language) != outcome.message(in: language)
                #expect(isOwn == (obstacle == .accountDisabled))
            }
        }
        #expect(isDescription(AppFlipObstacle.accountDisabled.englishMessage))
    }

    /// Google shows the description to its user.
    @Test(arguments: [("state", ""), ("scope", "admin"), ("client_id", "stranger")])
    func `the description of a refused link is the sentence for users, and the detail is for the developer`(
        parameter: String, value: String
    ) throws {
        var call = AppFlipRequestBody()
        call.redirectURI = "https://oauth-redirect.googleusercontent.com/a/com.google.OPA"
        call.clientID = parameter == "client_id" ? value : ClientDraft.googleSample().id
        call.state = parameter == "state" ? value : "s"
        call.scope = parameter == "scope" ? value : "openid"
        guard case .response(let response) = AppFlipCheck(try .sample()).link(call, caller: .all) else {
            Issue.record("the link is accepted")
            return
        }
        let sentence = AppFlipOutcome.invalidRequest.message.english
        #expect(response.message == sentence)
        let encoded = sentence.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let description = response.redirectTo.split(separator: "error_description=").last?.prefix {
            $0 != "&"
        }
        #expect(description?.removingPercentEncoding == encoded.removingPercentEncoding)
        #expect(response.detail?.isEmpty == false && response.detail != sentence)
        #expect(String(decoding: response.json, as: UTF8.self).contains("\"detail\":"))
    }
}

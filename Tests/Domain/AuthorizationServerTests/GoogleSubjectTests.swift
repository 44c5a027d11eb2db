import AppleAccounts
import Foundation
import StorageConformance
import StrictJSON
import Testing

@testable import AuthorizationServer
@testable import OAuthFixtures

/// The Google account of links that were made in the browser or by App Flip.
@Suite struct GoogleSubjectTests {
    private let google = "google-sub-1"

    /// Links in the browser: the token families of these numbers have no Google account.
    private func linked(_ numbers: UInt64...) -> GrantDesk {
        var desk = GrantDesk()
        for number in numbers { desk.link(number, client: "google", isNative: false, forGoogle: true) }
        return desk
    }

    private func revoke(_ desk: inout GrantDesk, _ subject: String, upTo moment: Moment = 9_000_000) {
        desk.apply(
            .googleEvent(
                .sample(.endFamilies(googleSubject: subject, upTo: moment, of: nil), jti: "revoked")))
    }

    @Test func `an event about the Google account of a link in the browser finds nothing`() {
        var desk = linked(1)
        revoke(&desk, google)
        #expect(desk.lineNumbers == [1])
    }

    @Test func `streamlined linking tells whose older links are`() {
        var desk = linked(1, 2)
        desk.apply(.assertion(.sample(3, account: GrantDesk.account, at: 2_100_000)))
        revoke(&desk, google)
        #expect(desk.lineNumbers.isEmpty)
        #expect(desk.endings == [.googleRevoked])
    }

    @Test func `the intent create tells it too, and gives nothing`() {
        var desk = linked(1, 2)
        #expect(
            desk.apply(.learnGoogleSubject(.sample(account: GrantDesk.account))) == .success(.learned(2)))
        #expect(desk.lineNumbers == [1, 2])
        revoke(&desk, google)
        #expect(desk.lineNumbers.isEmpty)
    }

    @Test func `a token that Google names with its account tells it of the other links of the grant`() {
        var desk = linked(1, 2)
        desk.link(3, client: "google-two", isNative: false, forGoogle: true)
        desk.apply(
            .googleEvent(
                .sample(
                    .endToken(
                        doubleSHA512: SampleToken(family: 1).doubleSHA512, of: ["google"],
                        googleSubject: google))))
        #expect(desk.lineNumbers == [2, 3])
        revoke(&desk, google)
        #expect(desk.lineNumbers == [3])
    }

    @Test func `what is learned of a disabled Google account ends at once`() {
        let desk = linked(1, 2)
        var set = GrantWorkingSet([
            .googleEvent(.sample(.disable(googleSubject: google, at: 2_500_000), jti: "disabled")),
            .googleEvent(
                .sample(
                    .endToken(
                        doubleSHA512: SampleToken(family: 1).doubleSHA512, of: ["google"],
                        googleSubject: google))),
        ])
        set.load(desk.user)
        set.load(grants: Array(desk.grants.values), families: Array(desk.families.values), codes: [])
        var generator = SystemRandomNumberGenerator()
        _ = set.applyCommands(using: &generator)
        #expect(set.changes.removedGrants.count == 1)
    }

    @Test func `with two Google accounts in a grant, a link without one stays unknown`() {
        var desk = GrantDesk()
        desk.apply(.assertion(.sample(1, account: GrantDesk.account)))
        desk.link(2, client: "google", isNative: false, forGoogle: true)
        desk.apply(.assertion(.sample(3, account: GrantDesk.account, subject: "google-sub-2")))
        revoke(&desk, "google-sub-2")
        #expect(desk.lineNumbers == [1, 2])
        desk.apply(
            .googleEvent(.sample(.endFamilies(googleSubject: google, upTo: 9_000_000, of: nil), jti: "first"))
        )
        #expect(desk.lineNumbers == [2])
    }

    @Test func `a link that is made after the assertion stays unknown`() {
        var desk = GrantDesk()
        desk.apply(.assertion(.sample(1, account: GrantDesk.account)))
        desk.link(2, client: "google", isNative: false, forGoogle: true, at: 2_100_000)
        revoke(&desk, google)
        #expect(desk.lineNumbers == [2])
    }

    @Test(arguments: [(1_999_999, true), (2_000_000, false)] as [(Moment, Bool)])
    func `a learned link is as old as its first token, not as the sign-in at Apple`(
        moment: Moment, isKept: Bool
    ) {
        var desk = linked(1)
        desk.apply(.learnGoogleSubject(.sample(account: GrantDesk.account)))
        revoke(&desk, google, upTo: moment)
        #expect(desk.lineNumbers == (isKept ? [1] : []))
    }

    @Test(
        arguments: [
            (.email("other@example.com"), .accountNotMatched), (.link, .accountNotMatched),
            (.origin, .accountNotMatched),
        ] as [(GoogleAccountMatch, GrantRefusal.Code)])
    func `an assertion that does not lead to the account teaches nothing`(
        match: GoogleAccountMatch, code: GrantRefusal.Code
    ) {
        var desk = linked(1)
        #expect(
            desk.apply(.learnGoogleSubject(.sample(account: GrantDesk.account, match: match))).refusal == code
        )
        revoke(&desk, google)
        #expect(desk.lineNumbers == [1])
    }

    @Test func `a learned link is no way into the account`() {
        var desk = linked(1)
        desk.apply(.learnGoogleSubject(.sample(account: GrantDesk.account)))
        #expect(
            desk.apply(.assertion(.sample(2, account: GrantDesk.account, match: .link))).refusal
                == .accountNotMatched)
        #expect(
            desk.apply(.learnGoogleSubject(.sample(account: GrantDesk.account, match: .link))).refusal
                == .accountNotMatched)
    }

    @Test func `links of other clients are not learned`() {
        var desk = linked(1)
        desk.link(2, client: "phone")
        #expect(
            desk.apply(.learnGoogleSubject(.sample(account: GrantDesk.account, client: "google-two")))
                == .success(.learned(0)))
        desk.apply(.learnGoogleSubject(.sample(account: GrantDesk.account)))
        revoke(&desk, google)
        #expect(desk.lineNumbers == [2])
    }
}

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
        #expect(String(decoding: response.json(), as: UTF8.self).contains("\"detail\":"))
    }
}

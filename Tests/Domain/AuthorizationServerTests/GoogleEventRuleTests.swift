import AppleAccounts
import Cryptography
import Foundation
import StorageConformance
import StrictJSON
import Testing

@testable import AuthorizationServer
@testable import OAuthFixtures

/// RISC: Google's events about a linked Google account, also when events arrive in another order.
@Suite struct GoogleEventRuleTests {
    private let google = "google-sub-1"

    /// Linked through Google's assertion at 2,000,000.
    private func linked() -> GrantDesk {
        var desk = GrantDesk()
        desk.apply(.assertion(.sample(account: GrantDesk.account)))
        return desk
    }

    @Test func `revoked sessions end the grants that are linked with the account, and no others`() {
        var desk = linked()
        desk.link(2)
        desk.apply(.googleEvent(.sample(.endFamilies(googleSubject: google, upTo: 2_500_000, of: nil))))
        #expect(desk.lineNumbers == [2])
        #expect(desk.endings == [.googleRevoked])
        // Google knows it already.
        #expect(desk.reported.isEmpty)
    }

    @Test func `a link that was made after the event goes on`() {
        var desk = linked()
        desk.apply(.googleEvent(.sample(.endFamilies(googleSubject: google, upTo: 1_999_999, of: nil))))
        #expect(desk.lineNumbers == [1])
        #expect(desk.endings.isEmpty)
    }

    @Test func `of a grant with older and younger families the older ones end`() {
        var desk = linked()
        desk.apply(.assertion(.sample(2, account: GrantDesk.account, at: 2_600_000)))
        desk.apply(.googleEvent(.sample(.endFamilies(googleSubject: google, upTo: 2_500_000, of: nil))))
        #expect(desk.lineNumbers == [2])
        #expect(desk.endings.isEmpty)
    }

    @Test func `an event of a project ends nothing of other clients`() {
        var desk = linked()
        desk.apply(
            .googleEvent(.sample(.endFamilies(googleSubject: google, upTo: 2_500_000, of: ["google-two"]))))
        #expect(desk.lineNumbers == [1])
        desk.apply(
            .googleEvent(
                .sample(.endFamilies(googleSubject: google, upTo: 2_500_000, of: ["google"]), jti: "own")))
        #expect(desk.lineNumbers.isEmpty)
    }

    @Test(arguments: ["google-sub-1", "google-sub-2"])
    func `of a user with two Google accounts the families of the one that is meant end`(subject: String) {
        var desk = linked()
        desk.apply(.assertion(.sample(2, account: GrantDesk.account, subject: "google-sub-2")))
        desk.link(3, client: "google", isNative: false, forGoogle: true)
        desk.apply(.googleEvent(.sample(.endFamilies(googleSubject: subject, upTo: 2_500_000, of: nil))))
        #expect(desk.lineNumbers == (subject == google ? [2, 3] : [1, 3]))
        #expect(desk.endings.isEmpty)
    }

    @Test func `a family is as old as its assertion`() {
        var desk = GrantDesk()
        desk.apply(.assertion(.sample(account: GrantDesk.account, assertedAt: 1_900_000, at: 2_600_000)))
        desk.apply(.googleEvent(.sample(.endFamilies(googleSubject: google, upTo: 2_500_000, of: nil))))
        #expect(desk.lineNumbers.isEmpty)
    }

    @Test func `nothing of a disabled Google account is good, also what came after the event`() {
        var desk = GrantDesk()
        desk.apply(.assertion(.sample(account: GrantDesk.account, at: 2_600_000)))
        desk.apply(.googleEvent(.sample(.disable(googleSubject: google, at: 2_500_000))))
        #expect(desk.lineNumbers.isEmpty)
        #expect(desk.endings == [.googleRevoked])
    }

    @Test func `an assertion from before a Google account was disabled is not good once it is enabled`() {
        var set = GrantWorkingSet([
            .googleEvent(.sample(.disable(googleSubject: google, at: 1_900_000))),
            .googleEvent(.sample(.enable(googleSubject: google, at: 1_950_999), jti: "enabled")),
            .assertion(.sample(1, account: GrantDesk.account, assertedAt: 1_890_000)),
            .assertion(.sample(2, account: GrantDesk.account, assertedAt: 1_949_999)),
            .assertion(.sample(3, account: GrantDesk.account, assertedAt: 1_950_000)),
        ])
        set.load(GrantDesk().user)
        var generator = SystemRandomNumberGenerator()
        let codes = refusals(set.applyCommands(using: &generator))
        #expect(codes == [nil, nil, .googleAccountDisabled, .googleAccountDisabled, nil])
    }

    @Test(
        arguments: [
            ("001999.0123456789abcdef.0123", .email("user@example.com"), nil),
            ("001999.0123456789abcdef.0123", .email("USER@EXAMPLE.COM"), nil),
            ("001999.0123456789abcdef.0123", .email("other@example.com"), .accountNotMatched),
            ("001999.0123456789abcdef.0123", .link, .accountNotMatched),
            ("001999.0123456789abcdef.0123", .origin, .accountNotMatched),
            ("google:google-sub-1", .origin, nil),
            ("google:google-sub-1", .email("user@example.com"), nil),
            // Pre-hijacking: a stranger has made the account, and waits for the owner of the address.
            ("google:google-sub-2", .origin, .accountNotMatched),
            ("google:google-sub-2", .email("user@example.com"), .accountNotMatched),
        ] as [(AppleSubject, GoogleAccountMatch, GrantRefusal.Code?)])
    func `an account that one Google account has made is never entered by another`(
        subject: AppleSubject, match: GoogleAccountMatch, refusal: GrantRefusal.Code?
    ) {
        var desk = GrantDesk(subject)
        #expect(desk.apply(.assertion(.sample(account: GrantDesk.account, match: match))).refusal == refusal)
    }

    @Test(arguments: [(false, false), (true, true)])
    func `an address that was not verified when it was stored, or is a relay, leads nowhere`(
        isVerified: Bool, isPrivate: Bool
    ) {
        var desk = GrantDesk()
        desk.user.email = LastWriter(.sample(isVerified: isVerified, isPrivate: isPrivate), at: 1_000_000)
        #expect(desk.apply(.assertion(.sample(account: GrantDesk.account))).refusal == .accountNotMatched)
    }

    private func refusals(_ results: [Result<GrantOutcome, any Error>]) -> [GrantRefusal.Code?] {
        results.map { result in
            guard case .failure(let error) = result else { return nil }
            return (error as? GrantRefusal)?.code
        }
    }

    @Test func `one refresh token is found by all 64 bytes of its double digest`() throws {
        var desk = linked()
        let digest = SampleToken(family: 1).doubleSHA512
        let similar = try #require(SHA512Digest(digest.bytes.dropLast() + [(digest.bytes.last ?? 0) ^ 1]))
        desk.apply(.googleEvent(.sample(.endToken(doubleSHA512: similar, of: ["google"]), jti: "similar")))
        #expect(desk.lineNumbers == [1])
        // What is said to another project is about none of this client's tokens.
        desk.apply(
            .googleEvent(.sample(.endToken(doubleSHA512: digest, of: ["google-two"]), jti: "elsewhere")))
        #expect(desk.lineNumbers == [1])
        desk.apply(.googleEvent(.sample(.endToken(doubleSHA512: digest, of: ["google"]))))
        #expect(desk.endings == [.googleRevoked])
    }

    @Test func `nothing is linked with a Google account that is disabled`() {
        let desk = GrantDesk()
        var set = GrantWorkingSet([
            .googleEvent(.sample(.disable(googleSubject: google, at: 1_900_000))),
            .assertion(.sample(account: GrantDesk.account)),
            .googleEvent(.sample(.enable(googleSubject: google, at: 1_800_000), jti: "late")),
            .assertion(.sample(2, account: GrantDesk.account)),
            .googleEvent(.sample(.enable(googleSubject: google, at: 1_950_000), jti: "enabled")),
            .assertion(.sample(3, account: GrantDesk.account)),
        ])
        set.load(desk.user)
        var generator = SystemRandomNumberGenerator()
        let codes = refusals(set.applyCommands(using: &generator))
        #expect(codes == [nil, .googleAccountDisabled, nil, .googleAccountDisabled, nil, nil])
        #expect(set.changedGoogleAccounts.map(\.isDisabled) == [false])
    }

    @Test(
        arguments: [
            (.sessionsRevoked, nil), (.accountDisabled, .hijacking), (.accountDisabled, .bulkAccount),
            (.accountDisabled, nil),
        ] as [(GoogleEventKind, GoogleEventReason?)])
    func `the end of a grant names the event of Google and its reason`(
        kind: GoogleEventKind, reason: GoogleEventReason?
    ) {
        var desk = linked()
        let change: GoogleEventCommand.Change =
            kind == .accountDisabled
            ? .disable(googleSubject: google, at: 2_500_000)
            : .endFamilies(googleSubject: google, upTo: 2_500_000, of: nil)
        desk.apply(.googleEvent(.sample(change, kind: kind, reason: reason)))
        let reference = desk.events.last?.grant
        #expect(reference?.reason == .googleRevoked)
        #expect(reference?.googleEvent == GoogleEventReference(kind: kind, reason: reason))
    }

    @Test(
        arguments: [
            (.endFamilies(googleSubject: "google-sub-2", upTo: 2_500_000, of: nil), .sessionsRevoked),
            (
                .endFamilies(googleSubject: "google-sub-1", upTo: 2_500_000, of: ["google-two"]),
                .tokensRevoked
            ),
            (.endToken(doubleSHA512: SampleToken(family: 2).doubleSHA512, of: ["google"]), .tokenRevoked),
            (.disable(googleSubject: "google-sub-2", at: 2_500_000), .accountDisabled),
            (.enable(googleSubject: "google-sub-2", at: 2_500_000), .accountEnabled),
            (.name(googleSubject: "google-sub-2"), .credentialChangeRequired),
        ] as [(GoogleEventCommand.Change, GoogleEventKind)])
    func `an event that names no link is counted by its kind`(
        change: GoogleEventCommand.Change, kind: GoogleEventKind
    ) {
        var desk = linked()
        #expect(
            desk.apply(.googleEvent(.sample(change))) == .success(.googleEvent(.applied(unmatched: kind))))
        #expect(desk.lineNumbers == [1])
    }

    @Test(
        arguments: [
            .endFamilies(googleSubject: "google-sub-1", upTo: 1_000_000, of: nil),
            .endFamilies(googleSubject: "google-sub-1", upTo: 2_500_000, of: ["google"]),
            .endToken(doubleSHA512: SampleToken(family: 1).doubleSHA512, of: ["google"]),
            .disable(googleSubject: "google-sub-1", at: 2_500_000),
            .enable(googleSubject: "google-sub-1", at: 2_500_000), .name(googleSubject: "google-sub-1"),
        ] as [GoogleEventCommand.Change])
    func `an event that names a link is not, also when it ends nothing`(change: GoogleEventCommand.Change) {
        var desk = linked()
        #expect(desk.apply(.googleEvent(.sample(change))) == .success(.googleEvent(.applied)))
    }

    @Test func `an event without changes is counted, and a verification is not`() {
        var desk = linked()
        #expect(
            desk.apply(.googleEvent(.sample(kind: .other)))
                == .success(.googleEvent(.applied(unmatched: .other)))
        )
        #expect(
            desk.apply(.googleEvent(.sample(kind: .verification, jti: "test")))
                == .success(.googleEvent(.applied)))
    }

    @Test func `an account that is enabled again is known, although its links have ended`() {
        var set = GrantWorkingSet([
            .googleEvent(.sample(.disable(googleSubject: google, at: 2_400_000))),
            .googleEvent(.sample(.enable(googleSubject: google, at: 2_500_000), jti: "enabled")),
        ])
        let desk = linked()
        set.load(desk.user)
        set.load(grants: Array(desk.grants.values), families: Array(desk.families.values), codes: [])
        var generator = SystemRandomNumberGenerator()
        let results = set.applyCommands(using: &generator).compactMap { try? $0.get() }
        #expect(results == [.googleEvent(.applied), .googleEvent(.applied)])
        #expect(set.changedGoogleAccounts.map(\.isDisabled) == [false])
    }

    @Test func `a jti counts once`() {
        let desk = linked()
        var set = GrantWorkingSet([
            .googleEvent(.sample(kind: .verification)),
            .googleEvent(.sample(.endFamilies(googleSubject: google, upTo: 2_500_000, of: nil))),
        ])
        set.load(desk.user)
        set.load(grants: Array(desk.grants.values), families: Array(desk.families.values), codes: [])
        var generator = SystemRandomNumberGenerator()
        let results = set.applyCommands(using: &generator).compactMap { try? $0.get() }
        #expect(results == [.googleEvent(.applied), .googleEvent(.duplicate)])
        #expect(set.changes.isEmpty)
        #expect(set.newGoogleEvents.count == 1)
    }
}

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
        #expect(desk.apply(.learnGoogleSubject(.sample(account: GrantDesk.account))) == .success(.learned(2)))
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

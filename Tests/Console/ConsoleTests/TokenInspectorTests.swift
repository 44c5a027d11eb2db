import AppleAccounts
import AppleIdentity
import AuthorizationServer
import Cryptography
import Encodings
import JOSE
import OAuth
import OAuthSamples
import StorageConformance
import StrictJSON
import TestSupport
import Testing
import TokenMint

@testable import Console
@testable import HTTPAPI

@Suite(.timeLimit(.hung)) struct TokenInspectorTests {
    private static func expectNothing(of token: String, in html: String) {
        #expect(!html.contains(token))
        for segment in token.split(separator: ".") where segment.count > 12 {
            #expect(!html.contains(segment), "a segment is in the page")
        }
    }

    @Test func `a good identity token passes every check, and its address is masked`() async throws {
        let world = try InspectedWorld()
        let token = try world.token()
        let html = try InspectedWorld.html(try await world.inspect(token))
        #expect(html.contains("<span class=\"good\">Yes</span>"))
        #expect(html.contains("key MINTKEY1 of Apple"))
        #expect(html.contains("The user has not signed in to this app here yet."))
        #expect(html.contains("3 minutes ago"))
        // Each check that has passed shows what it compared.
        #expect(!html.contains("<span class=\"good\">passed</span></td><td class=\"any\"></td>"))
        #expect(html.contains("<td class=\"any\">RS256</td><td class=\"any\">RS256</td>"))
        #expect(html.contains("<td class=\"any\">MINTKEY1</td>"))
        #expect(html.contains("q…@p…") && !html.contains("q4zjk7x2rt") && !html.contains("privaterelay"))
        Self.expectNothing(of: token, in: html)
    }

    @Test func `claims that are dropped for their form are named`() async throws {
        let world = try InspectedWorld()
        let token = try world.token { $0["org_id"] = .bool(true) }
        let html = try InspectedWorld.html(try await world.inspect(token))
        #expect(html.contains("<span class=\"good\">Yes</span>"))
        #expect(html.contains("Dropped, because the form is wrong and nothing depends on it: org_id."))
    }

    @Test func `in development nothing is masked, and the fields keep what was given`() async throws {
        let world = try InspectedWorld()
        let token = try world.token()
        let html = try InspectedWorld.html(
            try await world.inspect(token, ["nonce": "n<1>"], isDevelopment: true))
        #expect(html.contains("q4zjk7x2rt") && !html.contains("q…@p…"))
        #expect(html.contains(">\(token)</textarea>") && html.contains("value=\"n&lt;1&gt;\""))
        #expect(!html.contains("are masked"))
        let masked = try InspectedWorld.html(try await world.inspect(token, ["nonce": "n<1>"]))
        #expect(masked.contains("are masked") && !masked.contains("value=\"n&lt;1&gt;\""))
    }

    @Test func `a result leads back to its request, and on to the person`() async throws {
        let world = try InspectedWorld()
        let subject = try #require(AppleSubject(TokenMint.subject))
        let account = try await world.store.signIn(
            .sample(
                key: SubjectKey(team: InspectedWorld.team, subject: subject),
                authorizedAt: Moment(seconds: TokenMint.sampleTime))
        ).account
        let link = "href=\"/console/people/\(account.id.rawValue)\""
        let html = try InspectedWorld.html(try await world.inspect(try world.token(), ["request": "7"]))
        #expect(html.contains("href=\"/console/requests/7\"") && html.contains(link))
        // The number is a number, and a stranger gets no person.
        let forged = try InspectedWorld.html(
            try await world.inspect(
                try world.token(), scope: .only([InspectedWorld.otherApp]), ["request": "7\"><b>"]))
        #expect(!forged.contains("/console/requests/") && !forged.contains(link))
    }

    @Test func `the checks of times say their leeway`() async throws {
        let world = try InspectedWorld()
        let html = try InspectedWorld.html(try await world.inspect(try world.token()))
        #expect(html.contains("later than now; leeway 60 seconds"))
        let expired = try world.token { $0["exp"] = .integer(TokenMint.sampleTime - 60) }
        let failed = try InspectedWorld.html(try await world.inspect(expired))
        #expect(failed.contains("(now less 60 seconds of leeway)"))
    }

    @Test(arguments: [
        (#"{"identity_token":"a.b.c","authorization_code":"d"}"#, "a.b.c"), (#"{"payload":"e"}"#, "e"),
        ("grant_type=refresh_token&refresh_token=siwa_rt_x&client_id=shop", "siwa_rt_x"),
        ("subject_token=f.g.h", "f.g.h"), ("id_token=", nil), ("{}", nil), ("", nil), ("a=%zz", nil),
        ("eyJhIjoxfQ.eyJzdWIiOiJ4In0.c2ln", "eyJhIjoxfQ.eyJzdWIiOiJ4In0.c2ln"), ("x.y.z", nil),
    ])
    func `the token of a request is found in its body`(body: String, token: String?) {
        func exchange(isCut: Bool) -> KeptExchange {
            KeptExchange(
                target: "/", contentType: nil, authorization: nil, body: Array(body.utf8), isBodyCut: isCut,
                response: [], responseType: nil, location: nil)
        }
        #expect(TokenText.carried(by: exchange(isCut: false)) == token)
        #expect(TokenText.carried(by: exchange(isCut: true)) == nil)
        #expect(TokenText.carried(by: nil) == nil)
    }

    @Test(arguments: NotificationForm.allCases)
    func `the address in a notification is masked in every form of its events`(
        form: NotificationForm
    ) async throws {
        let world = try InspectedWorld()
        let html = try InspectedWorld.html(try await world.inspect(try form.token()))
        #expect(html.contains(NotificationForm.masked) && !html.contains("relay7"))
    }

    @Test(arguments: [
        #"{"email":"relay7@hidden.example","email":"relay7@hidden.example"}"#,
        #" {"email":"relay7@hidden.example""#, "\u{FEFF}[\"relay7@hidden.example\"",
        #""{\"email\":\"relay7@hidden.example\"}""#,
    ])
    func `a text in a claim that begins as JSON and is none, or is a text in a text, shows no address`(
        text: String
    ) async throws {
        let world = try InspectedWorld()
        let token = try world.token { $0["extra"] = .string(text) }
        let html = try InspectedWorld.html(try await world.inspect(token))
        #expect(html.contains("extra") && !html.contains("relay7"))
    }

    @Test(arguments: [
        ("Bearer ", ""), ("bearer  ", ""), ("Authorization: Bearer ", ""), (#"{"payload":""#, #""}"#),
        (#"{"token_type":"Bearer","id_token":""#, #""}"#), ("\"", "\""),
    ])
    func `a token is found in the text around it`(before: String, after: String) async throws {
        let world = try InspectedWorld()
        let html = try InspectedWorld.html(try await world.inspect("\(before)\(try world.token())\(after)"))
        #expect(html.contains("<span class=\"good\">Yes</span>"))
        #expect(html.contains("The text around the token was left out."))
    }

    @Test(arguments: ["bearer", "Bearer", "{\"a\":1}", "siwa_rt_x", #"{"id_token":"a","access_token":"b"}"#])
    func `a text without one token in it stays as it is`(text: String) {
        #expect(TokenText.unwrapped(text) == text)
    }

    @Test func `every failed check has its words, not only the first`() async throws {
        let world = try InspectedWorld()
        let token = try world.token {
            ($0["aud"], $0["iss"], $0["exp"]) = (
                .string("com.other"), .string("https://evil.example"), .integer(TokenMint.sampleTime - 60)
            )
        }
        let html = try InspectedWorld.html(try await world.inspect(token))
        #expect(html.contains("<span class=\"bad\">No</span>"))
        for code in ["issuer_mismatch", "audience_mismatch", "token_expired"] {
            #expect(html.contains("<code>\(code)</code>"), "\(code)")
        }
        #expect(html.contains("It expired 4 minutes ago."))
    }

    @Test func `a token of a user who has left since is not good`() async throws {
        let world = try InspectedWorld()
        let subject = try #require(AppleSubject(TokenMint.subject))
        let key = SubjectKey(team: InspectedWorld.team, subject: subject)
        try await world.store.signIn(
            .sample(key: key, authorizedAt: Moment(seconds: TokenMint.sampleTime)))
        let good = try InspectedWorld.html(try await world.inspect(try world.token()))
        #expect(good.contains("credential is authorized here."))
        try await world.store.notify(
            .sample(key: key, at: Moment(seconds: TokenMint.sampleTime + 60)))
        let html = try InspectedWorld.html(try await world.inspect(try world.token()))
        #expect(html.contains("<span class=\"bad\">No</span>"))
        #expect(html.contains("consent_revoked"))
        // The credential is the one check that has failed.
        #expect(html.split(separator: "<span class=\"bad\">failed</span>").count == 2)
        #expect(html.contains("<code>credential_revoked</code>"))
    }

    @Test(arguments: [
        "", " ", "x", "..", "a.b.c", "eyJ.eyJ.eyJ", "siwa_rt_x", "siwa_ac_", "<script>alert(1)</script>",
        String(repeating: "[", count: 16_000), "\u{0}\u{1}\u{2}", "\u{202E}token", "{{token}}",
        String(repeating: "a", count: 16_385), String(repeating: ".", count: 16_000),
    ])
    func `whatever is given, the page answers and says that it is not good`(text: String) async throws {
        let world = try InspectedWorld()
        let answer = try await world.inspect(text)
        if case .refused(let words) = answer {
            #expect(text.allSatisfy(\.isWhitespace) || text.utf8.count > 16_384)
            #expect(!words.contains("aaaa"))
            return
        }
        let html = try InspectedWorld.html(answer)
        #expect(!html.contains("<span class=\"good\">Yes"))
        #expect(!html.contains("<script>"))
    }

    /// Tokens with a header and claims of an attacker.
    static let forged: [(header: String, claims: String)] = [
        (#"{"alg":"none"}"#, #"{"iss":"https://appleid.apple.com","sub":"s"}"#),
        (#"{"alg":"HS256","kid":"MINTKEY1"}"#, #"{"iss":"https://appleid.apple.com"}"#),
        (#"{"alg":"RS256","kid":"MINTKEY1","jku":"https://evil.example"}"#, "{}"),
        (#"{"alg":"RS256","kid":"MINTKEY1"}"#, #"{"name":"<script>alert(1)</script>","x":"<img src=x>"}"#),
        (#"{"alg":"ES256","kid":"<b>","typ":"at+jwt"}"#, #"{"iss":"<script>"}"#),
        (#"{"alg":"RS256","kid":"MINTKEY1"}"#, String(repeating: "[", count: 4000)),
        (
            #"{"alg":"RS256","kid":"MINTKEY1"}"#,
            "{\"a\":" + String(repeating: "{\"a\":", count: 60) + "1" + String(repeating: "}", count: 61)
        ),
        (#"{"alg":"RS256","kid":"MINTKEY1"}"#, #"{"exp":9223372036854775807,"iat":-9223372036854775808}"#),
        (#"{"alg":"RS256","kid":"x"}"#, #"{"iss":"A1B2C3D4E5","aud":"https://appleid.apple.com"}"#),
        (#"{"alg":"RS256","kid":"x"}"#, #"{"iss":"https://accounts.google.com","events":{}}"#),
        (#"{"typ":"secevent+jwt","alg":"ES256","kid":"x"}"#, #"{"iss":"https://accounts.example.com"}"#),
    ]

    @Test(arguments: forged.indices)
    func `a forged token is not good, and its content stays text`(index: Int) async throws {
        let world = try InspectedWorld()
        let parts = [Self.forged[index].header, Self.forged[index].claims].map {
            Base64URL.encode(Array($0.utf8))
        }
        let token = (parts + [Base64URL.encode(Array(repeating: 7, count: 64))]).joined(separator: ".")
        let html = try InspectedWorld.html(try await world.inspect(token))
        #expect(!html.contains("<span class=\"good\">Yes"))
        #expect(!html.contains("<script>") && !html.contains("<img") && !html.contains("<b>"))
        Self.expectNothing(of: token, in: html)
    }

    @Test func `an operator of other apps sees a token of this app as a stranger's`() async throws {
        let world = try InspectedWorld()
        let account = try await world.store.signIn(.sample()).account
        let refreshToken = try await world.grant(account.id).token.text
        let mine = try InspectedWorld.html(try await world.inspect(refreshToken))
        #expect(mine.contains("<a href=\"/console/people/\(account.id.rawValue)\">"))
        Self.expectNothing(of: refreshToken, in: mine)
        let other = AppScope.only([InspectedWorld.otherApp])
        let foreign = try InspectedWorld.html(try await world.inspect(refreshToken, scope: other))
        #expect(foreign.contains("no such token family"))
        #expect(!foreign.contains(account.id.rawValue) && !foreign.contains("<dd>shop</dd>"))
        let identity = try InspectedWorld.html(try await world.inspect(try world.token(), scope: other))
        #expect(identity.contains("audience_mismatch") && !identity.contains("credential of the user"))
    }

    @Test func `an access token is good until its grant ends`() async throws {
        let world = try InspectedWorld()
        let account = try await world.store.signIn(.sample()).account
        let grant = try await world.grant(account.id).grant
        let seconds = world.now.milliseconds / 1000
        let token = try AccessToken(
            issuer: OAuthSample.issuer, audience: OAuthSample.issuer, accountID: account.id,
            clientID: "shop", familyID: .sample(1), random: Array(repeating: 1, count: 16), scope: "openid",
            issuedAt: seconds, expiresAt: seconds + 3600, authenticatedAt: seconds
        ).signed(with: try await world.keys.eventSigningKey())
        let good = try InspectedWorld.html(try await world.inspect(token))
        #expect(good.contains("<span class=\"good\">Yes</span>") && good.contains("of this service"))
        #expect(good.contains("It expires in 1 hour."))
        Self.expectNothing(of: token, in: good)
        _ = try await world.store.carryOut(EndGrantCommand.sample(grant.id, of: account.id))
        let ended = try InspectedWorld.html(try await world.inspect(token))
        #expect(ended.contains("<span class=\"bad\">No</span>") && ended.contains("token_inactive"))
        #expect(ended.contains("<p>Found: no such token family"))
    }

    @Test func `an ID token is good until its grant ends, also if the user grants anew`() async throws {
        let world = try InspectedWorld()
        let account = try await world.store.signIn(.sample()).account
        let grant = try await world.grant(account.id).grant
        func token(issuedAt seconds: Int64) async throws -> String {
            try IDToken(
                issuer: OAuthSample.issuer, clientID: "shop", account: account, scope: "openid email",
                nonce: nil,
                accessToken: "x", issuedAt: seconds, expiresAt: world.now.milliseconds / 1000 + 3600,
                authenticatedAt: seconds
            ).signed(with: try await world.keys.eventSigningKey())
        }
        let seconds = grant.createdAt.milliseconds / 1000
        // The replica that issued the token can be some seconds behind the one that made the grant.
        for issuedAt in [seconds, seconds - 1, seconds - 10] {
            let good = try InspectedWorld.html(try await world.inspect(try await token(issuedAt: issuedAt)))
            #expect(good.contains("<span class=\"good\">Yes</span>"))
            #expect(good.contains("grant to shop is in force") && good.contains(grant.id.rawValue))
        }
        let earlier = try InspectedWorld.html(
            try await world.inspect(try await token(issuedAt: seconds - 11)))
        #expect(earlier.contains("<span class=\"bad\">No</span>") && earlier.contains("has ended"))
        _ = try await world.store.carryOut(EndGrantCommand.sample(grant.id, of: account.id))
        let ended = try InspectedWorld.html(try await world.inspect(try await token(issuedAt: seconds)))
        #expect(ended.contains("<span class=\"bad\">No</span>") && ended.contains("has ended"))
        // The grant is the one check that has failed.
        #expect(ended.split(separator: "<span class=\"bad\">failed</span>").count == 2)
        #expect(ended.contains("<code>grant_ended</code>") && !ended.contains("Every check that applies"))
    }

    @Test func `a code is good until it is redeemed, and the page shows nothing of it`() async throws {
        let world = try InspectedWorld()
        let account = try await world.store.signIn(.sample()).account
        let code = AuthorizationCodeText(random: SecureRandom.bytes(count: 32))
        let command = AuthorizeCommand(
            accountID: account.id, newGrantID: GrantID(.sample(1)), oauthClientID: "shop",
            clientID: InspectedWorld.app, codeDigest: code.digest, redirectURI: OAuthSample.shopURI,
            challenge: nil, scope: "openid", nonce: nil, authenticatedAt: 1_000_000, moment: world.now,
            expiresAt: world.now.advanced(byMilliseconds: 60_000))
        try await world.store.authorize(command)
        let good = try InspectedWorld.html(try await world.inspect(code.text))
        #expect(good.contains("<span class=\"good\">Yes</span>") && good.contains(OAuthSample.shopURI))
        Self.expectNothing(of: code.text, in: good)
        let other = AppScope.only([InspectedWorld.otherApp])
        let foreign = try InspectedWorld.html(try await world.inspect(code.text, scope: other))
        #expect(foreign.contains("no such code") && !foreign.contains(account.id.rawValue))
    }

    @Test func `a client secret of ours is verified with the key of the team`() async throws {
        let world = try InspectedWorld()
        func secret(_ key: ECPrivateKey, lifetime: Int64 = 86_400) throws -> String {
            let now = world.now.milliseconds / 1000
            return try JWTSigner.sign(
                claims: JSONObject([
                    ("iss", .string("A1B2C3D4E5")), ("iat", .integer(now)),
                    ("exp", .integer(now + lifetime)),
                    ("aud", .string("https://appleid.apple.com")), ("sub", .string("com.example.app")),
                ]), keyID: "KEY1234567", algorithm: .ES256, key: key.pem)
        }
        let good = try secret(world.secretKey)
        let html = try InspectedWorld.html(try await world.inspect(good))
        #expect(html.contains("<code>client-secret</code>") && html.contains(">Yes</span>"))
        Self.expectNothing(of: good, in: html)
        let foreign = try InspectedWorld.html(try await world.inspect(try secret(.generate())))
        #expect(foreign.contains("signature_invalid"))
        // Apple's six months, to the second.
        for (lifetime, isTooLong) in [(15_777_000, false), (15_777_001, true)] as [(Int64, Bool)] {
            let text = try secret(world.secretKey, lifetime: lifetime)
            let html = try InspectedWorld.html(try await world.inspect(text))
            #expect(html.contains("lifetime_too_long") == isTooLong)
        }
    }

    @Test func `Google's tokens are verified with Google's keys`() async throws {
        let world = try InspectedWorld()
        var claims = TokenMint.identityClaims()
        claims["iss"] = .string("https://accounts.google.com")
        claims["aud"] = .string(OAuthSample.googleClientID)
        let token = try TokenMint.shared.sign(claims)
        let html = try InspectedWorld.html(try await world.inspect(token))
        #expect(html.contains("google-id-token") && html.contains(">Yes</span>"))
        claims["events"] = .object(JSONObject())
        let event = try InspectedWorld.html(try await world.inspect(try TokenMint.shared.sign(claims)))
        #expect(event.contains("google-security-event") && event.contains("issuer_mismatch"))
    }

    @Test(arguments: ["c", "r", "a"])
    func `Apple's opaque values are said to be Apple's`(letter: String) async throws {
        let world = try InspectedWorld()
        let value =
            "\(letter)\(String(repeating: "0f", count: 16)).0.mrtz.\(String(repeating: "S", count: 22))"
        let html = try InspectedWorld.html(try await world.inspect(value))
        #expect(html.contains("It cannot be said") && html.contains("Apple alone knows"))
        #expect(!html.contains(value))
    }

    @Test func `the form asks for a post, keeps nothing, and a kind can be chosen`() async throws {
        let world = try InspectedWorld()
        let page = try TokenPages(world.inspector).pages.page(.get, "/tokens")
        let html = try InspectedWorld.html(
            try await page.handle(world.request(query: ["token": "siwa_rt_from-a-link"])))
        #expect(html.contains("method=\"post\"") && html.contains("autocomplete=\"off\""))
        #expect(!html.contains("from-a-link"))
        let chosen = try InspectedWorld.html(
            try await world.inspect(try world.token(), kind: "notification"))
        #expect(chosen.contains("not_a_notification"))
        if case .refused = try await world.inspect("x", kind: "<script>") {
        } else {
            Issue.record("an unknown kind was accepted")
        }
    }
}

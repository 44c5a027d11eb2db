import AppleAccounts
import Cryptography
import Encodings
import StrictJSON
import TestSupport
import Testing

@testable import OAuthFixtures

/// User of an App Flip call, in the words of `given.identity`.
struct GivenIdentity {
    struct Prepared {
        var token: String
        /// ID of the account; an unknown ID until an account exists.
        var account = "acc_01a1fbea-fd31-77cb-bae8-b913bd619922"
    }

    let service: PlayedService
    let user: PlayedUser
    let call: AppFlipCase.Call

    /// - Parameter word: Word of the case; without a word, prepares a user who can sign in.
    func prepare(_ word: String?) async throws -> Prepared {
        let isAccount = call.accountId != nil
        var prepared = Prepared(token: try user.identityToken())
        switch word {
        case nil, "account unknown": break
        case "accepted", "too old as the backend says":
            if isAccount { prepared.account = try await user.signIn() }
        case "accepted with its nonce":
            let nonce = try #require(call.nonce)
            prepared.token = try user.identityToken { $0["nonce"] = .string(nonce) }
        case "signed in 4000 seconds ago", "too old":
            let moment = service.now.advanced(byMilliseconds: -4_000_000)
            prepared.token = try user.identityToken(authenticatedAt: moment)
            if isAccount { prepared.account = try await user.signIn(prepared.token) }
        case "refused": prepared.token = String(prepared.token.dropLast(8)) + "AAAAAAAA"
        case "refused: of another app":
            prepared.token = try user.identityToken { $0["aud"] = "com.example.siwa.second" }
        case "refused: expired":
            let now = service.now.milliseconds / 1000
            prepared.token = try user.identityToken { $0["exp"] = .integer(now - 3600) }
        case "refused: nonce of another sign-in":
            prepared.token = try user.identityToken { $0["nonce"] = "another" }
        case "unavailable": service.appleKeys.takeAway()
        default: try await end(try #require(word), &prepared)
        }
        return prepared
    }

    /// Signs the user in, and then makes the change that `word` names. The token is from before the change.
    private func end(_ word: String, _ prepared: inout Prepared) async throws {
        if word == "account being erased" {
            // Apple's token is still to be revoked.
            prepared.account = try await user.signInWithRefreshToken()
        } else {
            prepared.account = try await user.signIn(prepared.token)
        }
        service.clock.advance(by: .seconds(10))
        switch word {
        case "credential revoked": try await user.notify("consent-revoked")
        case "apple account deleted": try await user.notify("account-delete")
        case "account erased", "account being erased": try await user.erase(prepared.account)
        case "healed by a new sign-in":
            try await user.notify("consent-revoked")
            service.clock.advance(by: .seconds(10))
            prepared.token = try user.identityToken()
            return
        default: throw UnknownGiven(text: word)
        }
        service.clock.advance(by: .seconds(1))
    }
}

/// Apple's identity token of a native sign-in in the words of `given.identity`, with the nonce that the app
/// got before.
struct GivenNativeSignIn {
    struct Prepared {
        var token: String
        var nonce: String
    }

    static let client = "mobile"
    /// Apple's code in the requests of the cases.
    static let code = "c0ffee.0.abc"

    let service: PlayedService
    let word: String

    private var user: PlayedUser { PlayedUser(service: service, app: GivenAssertion.app) }

    func prepare() async throws -> Prepared {
        let minted = try await mint()
        var prepared = Prepared(token: try token(minted.digest), nonce: minted.nonce)
        switch word {
        case "accepted": break
        case "accepted with a code":
            let half = Base64URL.encode(Array(SHA256Digest.hash(Self.code).bytes.prefix(16)))
            prepared.token = try token(minted.digest) { $0["c_hash"] = .string(half) }
        case "of the Services ID":
            prepared.token = try token(minted.digest) { $0["aud"] = "com.example.siwa.web" }
        case "of another app":
            prepared.token = try token(minted.digest) { $0["aud"] = "com.example.siwa.second" }
        case "of an unknown app": prepared.token = try token(minted.digest) { $0["aud"] = "com.evil.app" }
        case "expired":
            let now = service.now.milliseconds / 1000
            prepared.token = try token(minted.digest) { $0["exp"] = .integer(now - 3600) }
        case "with a forged signature": prepared.token = String(prepared.token.dropLast(8)) + "AAAAAAAA"
        case "no token": prepared.token = "siwa"
        case "an access token of this service": prepared.token = try await accessToken()
        case "with the nonce itself": prepared.token = try token(minted.nonce)
        case "without a nonce": prepared.token = try token(nil)
        case "without a nonce of an old system":
            prepared.token = try token(nil) { $0["nonce_supported"] = false }
        case "with the nonce of another sign-in": prepared.token = try token(try await mint().digest)
        case "with a nonce of the app's own":
            prepared.nonce = "0123456789"
            prepared.token = try token(digest(of: prepared.nonce))
        case "with an invented nonce":
            prepared.nonce = "siwa-nonce-" + String(repeating: "A", count: 72)
            prepared.token = try token(digest(of: prepared.nonce))
        case "with an expired nonce":
            service.clock.advance(by: .seconds(601))
            prepared.token = try token(minted.digest)
        case "with a used nonce": _ = try await exchange(prepared)
        case "from before the consent was revoked":
            try await user.signIn()
            service.clock.advance(by: .seconds(10))
            try await user.notify("consent-revoked")
        case "from after the consent was revoked":
            try await user.signIn()
            service.clock.advance(by: .seconds(10))
            try await user.notify("consent-revoked")
            service.clock.advance(by: .seconds(10))
            prepared.token = try token(minted.digest)
        case "from before the erasure":
            let account = try await user.signIn()
            service.clock.advance(by: .seconds(10))
            try await user.erase(account)
        case "too old":
            let moment = service.now.advanced(byMilliseconds: -4_000_000)
            prepared.token = try user.identityToken(authenticatedAt: moment) {
                $0["nonce"] = .string(minted.digest)
            }
        case "unavailable": service.appleKeys.takeAway()
        default: throw UnknownGiven(text: word)
        }
        return prepared
    }

    private func token(_ nonce: String?, _ change: (inout JSONObject) -> Void = { _ in }) throws -> String {
        try user.identityToken {
            $0["nonce"] = nonce.map { .string($0) }
            change(&$0)
        }
    }

    private func digest(of nonce: String) -> String { Hexadecimal.encode(SHA256Digest.hash(nonce)) }

    private func mint() async throws -> (nonce: String, digest: String) {
        let response = try await service.post("/oauth/nonce", ["client_id": Self.client])
        #expect(response.status == 201, "\(response.text)")
        response.expectNoStore()
        let members = try response.object()
        #expect(members["expires_in"] as? Int == 600)
        let nonce = try #require(members["nonce"] as? String)
        let digest = try #require(members["nonce_sha256"] as? String)
        #expect(digest == self.digest(of: nonce))
        return (nonce, digest)
    }

    private func exchange(_ prepared: Prepared) async throws -> PlayedResponse {
        let response = try await service.post(
            "/oauth/token",
            [
                "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange", "client_id": Self.client,
                "subject_token": prepared.token,
                "subject_token_type": "urn:ietf:params:oauth:token-type:id_token", "nonce": prepared.nonce,
            ])
        #expect(response.status == 200, "\(response.text)")
        return response
    }

    private func accessToken() async throws -> String {
        let minted = try await mint()
        let response = try await exchange(Prepared(token: try token(minted.digest), nonce: minted.nonce))
        return try #require(try response.object()["access_token"] as? String)
    }
}

import AppleAccounts
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
            prepared.token = try user.identityToken { $0["aud"] = .string("com.example.siwa.second") }
        case "refused: expired":
            let now = service.now.milliseconds / 1000
            prepared.token = try user.identityToken { $0["exp"] = .integer(now - 3600) }
        case "refused: nonce of another sign-in":
            prepared.token = try user.identityToken { $0["nonce"] = .string("another") }
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

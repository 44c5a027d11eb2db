import AppleAccounts
import Foundation
import Testing

@testable import OAuthFixtures

extension AppFlipCase.Call {
    /// Members of the body, with the values of the user.
    func members(_ identity: GivenIdentity.Prepared, now: Moment) throws -> [String: String] {
        var members: [String: String] = [:]
        members["client_id"] = clientId
        members["redirect_uri"] = redirectUri
        members["state"] = state
        members["scope"] = scope
        members["code_challenge"] = codeChallenge
        members["code_challenge_method"] = codeChallengeMethod
        members["user_locale"] = userLocale
        members["accept_language"] = acceptLanguage
        members["decision"] = decision
        members["granted_scopes"] = grantedScopes
        members["nonce"] = nonce
        members["identity_token"] = try identityToken.map { text in
            try #require(text == "{identity_token}")
            return identity.token
        }
        members["account_id"] = try accountId.map { text in
            try #require(text == "{account_id}")
            return identity.account
        }
        members["authenticated_at"] = try authenticatedAt.map { text in
            guard text.hasPrefix("{"), text.hasSuffix(" seconds ago}"),
                let seconds = Int64(text.dropFirst().prefix { $0 != " " })
            else { throw UnknownGiven(text: text) }
            return Date(timeIntervalSince1970: Double(now.milliseconds / 1000 - seconds)).ISO8601Format()
        }
        return members
    }
}

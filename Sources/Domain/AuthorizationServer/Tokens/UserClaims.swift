public import AppleAccounts
import Encodings
public import StrictJSON

/// The claims about a user that a scope allows (OpenID Connect Core §5.4), in ID tokens and in userinfo.
public struct UserClaims: Sendable {
    private let account: Account
    private let showsEmail: Bool
    private let showsProfile: Bool

    /// - Parameter scope: Space-separated.
    public init(of account: Account, scope: String) {
        self.account = account
        let tokens = scope.split(separator: " ")
        showsEmail = tokens.contains { String($0).isByteEqual(to: "email") }
        showsProfile = tokens.contains { String($0).isByteEqual(to: "profile") }
    }

    /// Writes the members into the open object. Unknown values are left out.
    public func write(into json: inout JSONWriter) {
        if showsEmail, let email = account.email {
            json.member("email", email)
            json.member("email_verified", account.isEmailVerified ?? false)
            // Apple omits the claim for a signed address that is no relay.
            json.member(
                "is_private_email",
                ifPresent: account.isPrivateEmail ?? (account.isEmailVerified == nil ? nil : false))
        }
        if showsProfile {
            let (first, last) = (account.profile.firstName, account.profile.lastName)
            let name = [first, last].compactMap { $0 }.joined(separator: " ")
            json.member("name", ifPresent: name.isEmpty ? nil : name)
            json.member("given_name", ifPresent: first)
            json.member("family_name", ifPresent: last)
        }
    }
}

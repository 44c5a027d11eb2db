import Encodings
import JOSE
import KeySets
import StrictJSON

/// A user's identity from a verified ID token of Google (OpenID Connect Core §3.1.3.7).
struct GoogleIdentity: Sendable, Equatable {
    let subject: String
    /// Seconds since 1970, by Google's clock.
    let issuedAt: Int64
    let email: String?
    let isEmailVerified: Bool
    /// `hd`: the domain of a Google Workspace account.
    let hostedDomain: String?
    let givenName: String?
    let familyName: String?

    /// - Parameters:
    ///   - clientIDs: Client IDs of our project at Google: one of them must be the audience.
    ///   - now: Seconds since 1970.
    /// - Throws: `GoogleToken.Fault` when the token is refused; `KeySetError` when Google's keys are
    ///   unavailable.
    init(
        assertion: String, settings: GoogleSettings, clientIDs: [String], keys: any VerificationKeys,
        at now: Int64
    ) async throws {
        let token = try await GoogleToken(assertion, keys: keys)
        // A security event token has the same keys and audiences, and must not sign a user in.
        guard token.claims["events"] == nil, token.hasIssuer(settings.identityIssuers),
            token.hasAudience(clientIDs), let subject = token.name("sub"),
            let expiresAt = token.seconds("exp"), GoogleToken.times.isUnexpired(expiresAt, at: now),
            let issuedAt = token.seconds("iat"), GoogleToken.times.isPast(issuedAt, at: now),
            token.isValid(at: now)
        else { throw GoogleToken.Fault.malformed }
        self.subject = subject
        self.issuedAt = issuedAt
        email = token.name("email")
        isEmailVerified = token.claims["email_verified"] == .bool(true)
        hostedDomain = token.name("hd")
        givenName = token.name("given_name")
        familyName = token.name("family_name")
    }

    /// The address by which an account may be found, if Google vouches for it: the mailbox is Google's, or
    /// Google hosts the domain. Any other address could have passed to another user since Google verified it.
    var authoritativeEmail: String? {
        guard let email, isEmailVerified else { return nil }
        let isGmail = email.lowercased().utf8.suffix(10).elementsEqual("@gmail.com".utf8)
        return isGmail || hostedDomain != nil ? email : nil
    }
}

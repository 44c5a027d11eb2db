import AppleIdentity
import Encodings
import JOSE
import KeySets
import StrictJSON

/// A token of Google after the checks that both kinds share: form, key and signature (RS256).
struct GoogleToken: Sendable {
    /// Bound in bytes. Google's tokens have about a kilobyte.
    static let longest = 16 * 1024
    /// Time check with a leeway of a minute, because Google's clock may differ from ours.
    static let times = TokenTimeCheck(leeway: 60)

    enum Fault: Error, Equatable {
        /// The text is not a compact JWS in RS256 with a key ID.
        case malformed
        /// Google has no key with this ID, or has not signed the token with it.
        case notSigned
    }

    let claims: JSONObject

    /// Checks everything that needs no key first, so that garbage never causes a fetch.
    ///
    /// - Throws: `Fault`; `KeySetError` `keys_unavailable` when Google's keys are unavailable.
    init(_ text: String, keys: any VerificationKeys) async throws {
        guard text.utf8.count <= Self.longest, let jws = try? CompactJWS(parsing: Array(text.utf8)) else {
            throw Fault.malformed
        }
        let key: RSAPublicKey
        if let cached = keys.cachedKey(for: jws.keyID) {
            key = cached
        } else {
            do throws(KeySetError) {
                key = try await keys.key(
                    for: jws.keyID, issuedAt: UnverifiedToken.issuedAt(claimedIn: jws))
            } catch {
                guard error.code == .unknownKey else { throw error }
                throw Fault.notSigned
            }
        }
        guard jws.isSigned(by: key) else { throw Fault.notSigned }
        guard let claims = try? JSONValue(parsing: jws.payload), let object = claims.object else {
            throw Fault.malformed
        }
        self.claims = object
    }

    /// Returns `true` if the issuer equals an entry of `issuers`, byte for byte.
    func hasIssuer(_ issuers: [String]) -> Bool {
        guard let issuer = claims["iss"]?.string else { return false }
        return issuers.contains { $0.isByteEqual(to: issuer) }
    }

    /// Returns `true` if the token has one audience, which is one of
    /// these client IDs. Accepts a string and an array with one element.
    func hasAudience(_ clientIDs: [String]) -> Bool {
        let audience: String? =
            switch claims["aud"] {
            case .string(let text): text
            case .array(let values) where values.count == 1: values[0].string
            case nil, .array, .null, .bool, .integer, .number, .object: nil
            }
        return audience.map { audience in clientIDs.contains { $0.isByteEqual(to: audience) } } ?? false
    }

    /// Returns a text of 1 to 255 bytes without control characters; `nil` for any other value.
    func name(_ claim: String) -> String? {
        guard let text = claims[claim]?.string, (1...255).contains(text.utf8.count),
            !text.hasControlCharacters
        else { return nil }
        return text
    }

    /// Returns `true` if the token may be used already. `nbf` is optional,
    /// but a value that is not a time is refused (RFC 7523 §3, rule 5).
    func isValid(at now: Int64) -> Bool {
        guard claims["nbf"] != nil else { return true }
        guard let notBefore = seconds("nbf") else { return false }
        return Self.times.isValid(notBefore: notBefore, at: now)
    }

    /// Returns seconds since 1970, within the years 1970 to 9999, so that arithmetic on them cannot overflow.
    func seconds(_ claim: String) -> Int64? {
        guard let seconds = claims[claim]?.integer, (0...253_402_300_799).contains(seconds) else {
            return nil
        }
        return seconds
    }
}

/// Issuers that the service expects in Google's tokens.
public struct GoogleSettings: Sendable, Hashable {
    /// The `iss` values of Google's ID tokens. Old tokens have an `iss` without a scheme.
    public let identityIssuers: [String]
    /// The `iss` of Google's security event tokens, and of the accounts in their subjects.
    public let eventIssuer: String

    /// Google's own values.
    public static let google = GoogleSettings(
        identityIssuers: ["https://accounts.google.com", "accounts.google.com"],
        eventIssuer: "https://accounts.google.com/")
}

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
    ///   - clientIDs: Client IDs of our project at Google: the audience must be one of these IDs.
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
    /// Google hosts the domain. Any other address may belong to another user since Google verified it.
    var authoritativeEmail: String? {
        guard let email, isEmailVerified else { return nil }
        let isGmail = email.lowercased().utf8.suffix(10).elementsEqual("@gmail.com".utf8)
        return isGmail || hostedDomain != nil ? email : nil
    }
}

import AppleIdentity
import Encodings
import JOSE
import KeySets
import StrictJSON

/// A token from Google that has passed the checks common to both kinds of tokens: form, key and signature
/// (RS256).
struct GoogleToken: Sendable {
    /// Maximum length in bytes. Google's tokens are about a kilobyte long.
    static let longest = 16 * 1024
    /// The time check. It tolerates a clock skew of one minute between Google and this machine.
    static let times = TokenTimeCheck(leeway: 60)

    enum Fault: Error, Equatable {
        /// The text is not a compact JWS with RS256 and a key ID.
        case malformed
        /// Google has no key with this ID, or the signature does not match the key.
        case notSigned
    }

    let claims: JSONObject

    /// Verifies a token. A malformed token never causes a key fetch.
    ///
    /// - Throws: `Fault`; `KeySetError` with the code `keys_unavailable` if Google's keys are unavailable.
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

    /// Returns `true` if the issuer is in `issuers`, compared byte for byte.
    func hasIssuer(_ issuers: [String]) -> Bool {
        guard let issuer = claims["iss"]?.string else { return false }
        return issuers.contains { $0.isByteEqual(to: issuer) }
    }

    /// Returns `true` if the token has exactly one audience and `clientIDs` contains it. `aud` can be a
    /// string or an array with one element.
    func hasAudience(_ clientIDs: [String]) -> Bool {
        let audience: String? =
            switch claims["aud"] {
            case .string(let text): text
            case .array(let values) where values.count == 1: values[0].string
            case nil, .array, .null, .bool, .integer, .number, .object: nil
            }
        return audience.map { audience in clientIDs.contains { $0.isByteEqual(to: audience) } } ?? false
    }

    /// Returns the value of a claim if it is a string of 1 to 255 bytes without control characters; `nil` for
    /// any other value.
    func name(_ claim: String) -> String? {
        guard let text = claims[claim]?.string, (1...255).contains(text.utf8.count),
            !text.hasControlCharacters
        else { return nil }
        return text
    }

    /// Returns `true` if `nbf` allows the token to be used. `nbf` is optional, but a value that is not a time
    /// is refused (RFC 7523 §3, rule 5).
    func isValid(at now: Int64) -> Bool {
        guard claims["nbf"] != nil else { return true }
        guard let notBefore = seconds("nbf") else { return false }
        return Self.times.isValid(notBefore: notBefore, at: now)
    }

    /// Returns the value of a time claim in seconds since 1970, within the years 1970 to 9999, so that
    /// arithmetic cannot overflow.
    func seconds(_ claim: String) -> Int64? {
        guard let seconds = claims[claim]?.integer, (0...253_402_300_799).contains(seconds) else {
            return nil
        }
        return seconds
    }
}

/// The issuers of Google's tokens.
public struct GoogleSettings: Sendable, Hashable {
    /// The `iss` values of Google's ID tokens. In old tokens the `iss` has no scheme.
    public let identityIssuers: [String]
    /// The `iss` of Google's security event tokens, and of the Google accounts in their subjects.
    public let eventIssuer: String

    /// The issuers that Google documents.
    public static let google = GoogleSettings(
        identityIssuers: ["https://accounts.google.com", "accounts.google.com"],
        eventIssuer: "https://accounts.google.com/")
}

/// The user's identity from a verified Google ID token (OpenID Connect Core §3.1.3.7).
struct GoogleIdentity: Sendable, Equatable {
    let subject: String
    /// Time of issue in seconds since 1970, by Google's clock.
    let issuedAt: Int64
    let email: String?
    let isEmailVerified: Bool
    /// The domain of a Google Workspace account (claim `hd`).
    let hostedDomain: String?
    let givenName: String?
    let familyName: String?

    /// - Parameters:
    ///   - clientIDs: The client IDs of our Google project. The audience must be one of them.
    ///   - now: The current time in seconds since 1970.
    /// - Throws: `GoogleToken.Fault` if the token is refused; `KeySetError` if Google's keys are unavailable.
    init(
        assertion: String, settings: GoogleSettings, clientIDs: [String], keys: any VerificationKeys,
        at now: Int64
    ) async throws {
        let token = try await GoogleToken(assertion, keys: keys)
        // A security event token has the same signing keys and audiences, but must not sign a user in.
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

    /// The address that may be used to find an account. Google vouches for an address if it is a Gmail
    /// address or Google hosts its domain. Any other address may have changed owners since Google verified
    /// it.
    var authoritativeEmail: String? {
        guard let email, isEmailVerified else { return nil }
        let isGmail = email.lowercased().utf8.suffix(10).elementsEqual("@gmail.com".utf8)
        return isGmail || hostedDomain != nil ? email : nil
    }
}

import Encodings
import StrictJSON

/// An identity token's claims as Apple signed them, typed but not yet checked.
struct IdentityTokenClaims: AppleClaims {
    var issuer: String
    var subject: String
    var audience: Audience
    var expiresAt: NumericDate
    var issuedAt: NumericDate
    var notBefore: NumericDate?
    var authenticatedAt: NumericDate?
    var nonce: String?
    var nonceSupported: Bool?
    var codeHash: String?
    var accessTokenHash: String?
    var email: String?
    var emailVerified: Bool?
    var isPrivateEmail: Bool?
    var realUserStatus: Int64?
    var transferSubject: String?
    var organizationID: String?
    /// Malformed claims that were dropped.
    var dropped: DroppedClaims = []
}

/// Informational claims that may be dropped. If one is malformed, the token is verified without it. If a
/// claim that decides the user's identity or the token's validity is malformed, the token is refused.
public struct DroppedClaims: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The claim is not a string, or not an e-mail address.
    static let email = DroppedClaims(rawValue: 1)
    /// The claim is neither a boolean nor one of the strings "true" and "false".
    static let isPrivateEmail = DroppedClaims(rawValue: 2)
    /// The claim is not an integer.
    static let realUserStatus = DroppedClaims(rawValue: 4)
    static let organizationID = DroppedClaims(rawValue: 8)

    /// All claims that can be dropped, with their names.
    public static let all: [(claim: DroppedClaims, name: String)] = [
        (.email, "email"), (.isPrivateEmail, "is_private_email"), (.realUserStatus, "real_user_status"),
        (.organizationID, "org_id"),
    ]

    /// The names of the dropped claims. Allocates nothing for an empty set.
    public var names: [String] { isEmpty ? [] : Self.all.filter { contains($0.claim) }.map(\.name) }
}

extension IdentityTokenClaims {
    /// Parses the claims.
    ///
    /// Throws `.tokenMalformed`, `.notAnIdentityToken`, `.claimMalformed` or `.claimMissing`.
    init(parsing payload: [UInt8]) throws(AppleTokenError) {
        var draft = Draft()
        do throws(JSONError) {
            try draft.read(payload)
        } catch {
            throw AppleTokenError(.tokenMalformed, at: .payload, detail: error.detail)
        }
        guard !draft.hasEvents else { throw AppleTokenError(.notAnIdentityToken) }
        if let claim = draft.malformed { throw AppleTokenError(.claimMalformed, detail: claim) }
        guard let issuer = draft.issuer, let audience = draft.audience, let expiresAt = draft.expiresAt,
            let issuedAt = draft.issuedAt, let subject = draft.subject
        else {
            throw AppleTokenError(.claimMissing)
        }
        self.init(
            issuer: issuer, subject: subject, audience: audience, expiresAt: expiresAt, issuedAt: issuedAt,
            notBefore: draft.notBefore, authenticatedAt: draft.authenticatedAt, nonce: draft.nonce,
            nonceSupported: draft.nonceSupported,
            codeHash: draft.codeHash, accessTokenHash: draft.accessTokenHash, email: draft.email,
            emailVerified: draft.emailVerified, isPrivateEmail: draft.isPrivateEmail,
            realUserStatus: draft.realUserStatus, transferSubject: draft.transferSubject,
            organizationID: draft.organizationID, dropped: draft.dropped)
    }

    /// Claims read so far. Any claim may still be absent.
    private struct Draft {
        var issuer, subject, nonce, codeHash, accessTokenHash, email, transferSubject, organizationID: String?
        var audience: Audience?
        var expiresAt, issuedAt, notBefore, authenticatedAt: NumericDate?
        var nonceSupported, emailVerified, isPrivateEmail: Bool?
        var realUserStatus: Int64?
        var hasEvents = false
        var malformed: String?
        var dropped: DroppedClaims = []

        mutating func read(_ payload: [UInt8]) throws(JSONError) {
            var claims = ClaimReader(payload)
            try claims.begin()
            while let name = try claims.next() {
                switch name {
                case "iss": issuer = try claims.string("iss")
                case "sub": subject = try claims.string("sub")
                case "aud": audience = try claims.audience()
                case "exp": expiresAt = try claims.date("exp")
                case "iat": issuedAt = try claims.date("iat")
                case "auth_time": authenticatedAt = try claims.date("auth_time")
                case "nonce": nonce = try claims.string("nonce")
                case "nonce_supported": nonceSupported = try claims.flag("nonce_supported")
                case "c_hash": codeHash = try claims.string("c_hash")
                case "at_hash": accessTokenHash = try claims.string("at_hash")
                case "email": email = try claims.string("email", dropping: .email)
                case "email_verified": emailVerified = try claims.flag("email_verified")
                case "is_private_email":
                    isPrivateEmail = try claims.flag("is_private_email", dropping: .isPrivateEmail)
                case "real_user_status":
                    realUserStatus = try claims.integer("real_user_status", dropping: .realUserStatus)
                case "transfer_sub": transferSubject = try claims.string("transfer_sub")
                case "org_id": organizationID = try claims.string("org_id", dropping: .organizationID)
                case "nbf": notBefore = try claims.date("nbf")
                case "events":
                    hasEvents = true
                    try claims.skip()
                default: try claims.skip()
                }
            }
            try claims.finish()
            (malformed, dropped) = (claims.malformed, claims.dropped)
            if let address = email, !address.isMailAddress {
                email = nil
                dropped.insert(.email)
            }
        }
    }
}

/// Claims that identity tokens and notifications share (RFC 7519 §4.1), typed but not yet checked.
protocol AppleClaims: Sendable {
    var issuer: String { get }
    var audience: Audience { get }
    var expiresAt: NumericDate { get }
    var issuedAt: NumericDate { get }
    /// `nbf`: the start of the token's validity, which Apple does not send yet.
    var notBefore: NumericDate? { get }
}

/// `aud`: the audience (RFC 7519 §4.1.3).
enum Audience: Sendable, Equatable {
    /// A single string, the only form that Apple sends.
    case one(String)
    /// An array of any length, even with a single string. Apple never sends this form.
    case several
}

import AppleAccounts
package import AuthorizationServer
package import Cryptography
import Encodings
import JOSE
import StrictJSON

/// Looks up one of this service's codes in the database. Reports its user, and the reason if the code can no
/// longer be used.
package struct CodeLookup {
    /// A code's digest, as stored in the database.
    package enum Presented: Sendable, Hashable {
        case authorizationCode(SHA256Digest)
        case deviceCode(SHA256Digest)
        case userCode(SHA256Digest)
    }

    /// A row that the look-up has found.
    package enum Stored: Sendable {
        case code(CodeRecord)
        /// A device authorization that no user has granted yet.
        case device(DeviceAuthorization)
    }

    package typealias Find = @Sendable (Presented) async throws -> Stored?

    let find: Find?
    let moment: Moment
    /// The content of the row; `nil` if it was not found.
    private(set) var content: JSONObject?

    init(find: Find?, moment: Moment) {
        (self.find, self.moment) = (find, moment)
    }

    /// Reads a code. Throws `IssuedTokenInspection.Stop` for a string that cannot be a code of this kind.
    func parse(_ text: String, as kind: IssuedTokenKind) throws -> Presented {
        let presented: Presented?
        let expected: String
        switch kind {
        case .authorizationCode:
            presented = AuthorizationCodeText(parsing: text).map { .authorizationCode($0.digest) }
            expected = "\(AuthorizationCodeKind.prefix) and 32 bytes in base64url"
        case .deviceCode:
            presented = DeviceCodeText(parsing: text).map { .deviceCode($0.digest) }
            expected = "\(DeviceCodeKind.prefix) and 32 bytes in base64url"
        case .userCode:
            presented = UserCode(entered: text).map { .userCode($0.digest) }
            expected = "\(UserCode.length) consonants, as in BCDF-GHJK"
        case .accessToken, .idToken, .refreshToken, .securityEvent:
            (presented, expected) = (nil, "a code")
        }
        guard let presented else {
            throw IssuedTokenInspection.Stop(.form, found: "another text", expected: expected)
        }
        return presented
    }

    mutating func check(_ presented: Presented) async throws {
        guard let find else { return }
        switch try await find(presented) {
        case nil: throw stop("no such code: it was never issued, has ended with its grant, or is a day old")
        case .code(let code)?: try check(code)
        case .device(let device)?: try check(device)
        }
    }

    private mutating func check(_ code: CodeRecord) throws {
        content = Self.object(of: code)
        if let redemption = code.redemption {
            throw stop("a code that was redeemed at \(redemption.moment.rfc3339)")
        }
        guard moment < code.expiresAt else {
            throw stop("a code that has expired at \(code.expiresAt.rfc3339)")
        }
    }

    private mutating func check(_ device: DeviceAuthorization) throws {
        content = Self.object(of: device)
        if let deniedAt = device.deniedAt {
            throw stop("a code that the user refused at \(deniedAt.rfc3339)")
        }
        guard moment < device.expiresAt else {
            throw stop("a code that has expired at \(device.expiresAt.rfc3339)")
        }
    }

    private func stop(_ found: String) -> IssuedTokenInspection.Stop {
        IssuedTokenInspection.Stop(.code, found: found, expected: "a code that was not used yet")
    }

    private static func object(of code: CodeRecord) -> JSONObject {
        var members: [(String, JSONValue)] = [
            ("client_id", .string(code.oauthClientID.rawValue)),
            ("account_id", .string(code.accountID.rawValue)), ("grant_id", .string(code.grantID.rawValue)),
            ("redirect_uri", .string(code.redirectURI)), ("scope", .string(code.scope)),
            (
                "code_challenge_method",
                .string(code.challenge.map { $0.isPlain ? "plain" : "S256" } ?? "none")
            ),
            ("issued_at", .string(code.issuedAt.rfc3339)), ("expires_at", .string(code.expiresAt.rfc3339)),
        ]
        if let redemption = code.redemption {
            members.append(("redeemed_at", .string(redemption.moment.rfc3339)))
            members.append(("family_id", .string(Hexadecimal.encode(redemption.familyID.bytes))))
        }
        return JSONObject(members)
    }

    private static func object(of device: DeviceAuthorization) -> JSONObject {
        var members: [(String, JSONValue)] = [
            ("client_id", .string(device.oauthClientID.rawValue)), ("scope", .string(device.scope)),
            ("issued_at", .string(device.issuedAt.rfc3339)),
            ("expires_at", .string(device.expiresAt.rfc3339)),
            ("interval", .integer(device.interval)),
            ("polled_at", .string(device.polledAt?.rfc3339 ?? "never")),
        ]
        if let deniedAt = device.deniedAt { members.append(("denied_at", .string(deniedAt.rfc3339))) }
        return JSONObject(members)
    }
}

extension GrantInspectionStore where Self: AuthorizationStore {
    /// Returns the row of a code or device authorization; `nil` if it is not stored.
    package func find(_ presented: CodeLookup.Presented) async throws -> CodeLookup.Stored? {
        switch presented {
        case .authorizationCode(let digest): return try await code(withDigest: digest).map { .code($0) }
        case .deviceCode(let digest):
            if let device = try await device(withDigest: digest) { return .device(device) }
            // Once the user has agreed, the database contains a code with the same digest in place of the
            // device.
            return try await code(withDigest: digest).map { .code($0) }
        case .userCode(let digest): return try await device(withUserCode: digest).map { .device($0) }
        }
    }
}

/// Looks up one of this service's tokens in the database. Reports its token family, grant and credential.
struct FamilyLookup {
    /// Finds a token family by its ID; `nil` if there is no database.
    let find: (@Sendable (UniqueID) async throws -> TokenStatus?)?
    let moment: Moment
    /// The readable parts of a refresh token, which are not secret.
    private(set) var token: JSONObject?
    /// The token family's content; `nil` if it was not found.
    private(set) var content: JSONObject?

    init(find: (@Sendable (UniqueID) async throws -> TokenStatus?)?, moment: Moment) {
        (self.find, self.moment) = (find, moment)
    }

    /// Reads a refresh token. Throws `IssuedTokenInspection.Stop` for any other text.
    mutating func parse(_ text: String) throws -> RefreshTokenText {
        guard let presented = RefreshTokenText(parsing: text) else {
            throw IssuedTokenInspection.Stop(
                .form, found: "another text", expected: "siwa_rt_ and 68 bytes in base64url")
        }
        token = JSONObject([
            ("family_id", .string(Self.text(presented.familyID))),
            ("generation", .integer(Int64(presented.generation))),
        ])
        return presented
    }

    /// Checks a refresh token's position in its token family. The text is not signed, so without a database
    /// only its form can be checked.
    mutating func check(_ presented: RefreshTokenText) async throws {
        guard let find else { return }
        let family = try alive(try await find(presented.familyID))
        guard let kept = family.refreshToken, kept.familySecretDigest == presented.familySecretDigest else {
            throw stop("a text that was never issued for this family")
        }
        guard kept.digest == presented.digest else {
            throw stop(
                kept.exchanged.contains { $0.digest == presented.digest }
                    ? "a token before the current one" : "an older token of the family, or an invented one")
        }
    }

    /// Checks that a verified access token's family exists.
    mutating func check(accessToken token: TypedJWS) async throws {
        guard let find else { return }
        let identifier = (try? JSONValue(parsing: token.payload))?["jti"]?.string
        guard let bytes = identifier.flatMap({ Base64URL.decode($0) }),
            let familyID = UniqueID(bytes: bytes.prefix(16))
        else { throw stop("a jti without a token family") }
        _ = try alive(try await find(familyID))
    }

    private mutating func alive(_ status: TokenStatus?) throws(IssuedTokenInspection.Stop) -> TokenFamily {
        guard let status else { throw stop("no such token family: it has ended, or was never begun") }
        content = Self.object(of: status)
        guard moment < status.family.expiresAt else { throw stop("a token family that has expired") }
        guard !status.status.isDisabled(at: moment) else { throw stop("an account that is disabled") }
        guard status.isGood(at: moment) else {
            throw stop("a credential that is \(status.status.credential.state.rawValue)")
        }
        return status.family
    }

    private func stop(_ found: String) -> IssuedTokenInspection.Stop {
        IssuedTokenInspection.Stop(.family, found: found, expected: "the current token of a good family")
    }

    private static func text(_ id: UniqueID) -> String { Hexadecimal.encode(id.bytes) }

    private static func object(of status: TokenStatus) -> JSONObject {
        let (family, grant) = (status.family, status.grant)
        var members: [(String, JSONValue)] = [
            ("id", .string(text(family.id))), ("grant_id", .string(grant.id.rawValue)),
            ("client_id", .string(grant.oauthClientID.rawValue)),
            ("account_id", .string(grant.accountID.rawValue)), ("app", .string(grant.clientID.rawValue)),
            ("scope", .string(family.scope)), ("created_at", .string(family.createdAt.rfc3339)),
            ("credential", .string(status.status.credential.state.rawValue)),
        ]
        if family.expiresAt < .last { members.append(("expires_at", .string(family.expiresAt.rfc3339))) }
        if let token = family.refreshToken {
            members.append(("generation", .integer(Int64(token.generation))))
            if let previous = token.exchanged.first {
                members.append(("rotated_at", .string(previous.moment.rfc3339)))
            }
        }
        return JSONObject(members)
    }
}

import AppleAccounts
package import AuthorizationServer
package import Cryptography
import Encodings
import StrictJSON

/// Looks up in the database what a code of this service is: whose it is, and if it is still of use.
package struct CodeLookup {
    /// The digest of a code, in the form in which the database has it.
    package enum Presented: Sendable, Hashable {
        case authorizationCode(SHA256Digest)
        case deviceCode(SHA256Digest)
        case userCode(SHA256Digest)
    }

    /// A row of the database.
    package enum Stored: Sendable {
        case code(CodeRecord)
        /// A device whose user has not agreed yet.
        case device(DeviceAuthorization)
    }

    package typealias Find = @Sendable (Presented) async throws -> Stored?

    let find: Find?
    let moment: Moment
    /// The row, as far as it was found.
    private(set) var content: JSONObject?

    init(find: Find?, moment: Moment) {
        (self.find, self.moment) = (find, moment)
    }

    /// Throws `IssuedTokenInspection.Stop` for a text that cannot be such a code.
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
    /// Finds the row of a code.
    package func find(_ presented: CodeLookup.Presented) async throws -> CodeLookup.Stored? {
        switch presented {
        case .authorizationCode(let digest): return try await code(withDigest: digest).map { .code($0) }
        case .deviceCode(let digest):
            if let device = try await device(withDigest: digest) { return .device(device) }
            // Once the user has agreed, a code with the same digest has taken the device's place.
            return try await code(withDigest: digest).map { .code($0) }
        case .userCode(let digest): return try await device(withUserCode: digest).map { .device($0) }
        }
    }
}

import AppleAccounts
import AuthorizationServer
import Encodings
import JOSE
import StrictJSON

/// Looks up in the database what a token of this service is: its family, grant and credential.
struct FamilyLookup {
    /// `nil` without a database.
    let find: (@Sendable (UniqueID) async throws -> TokenStatus?)?
    let moment: Moment
    /// The parts of a refresh token that its text shows. None of them is secret.
    private(set) var token: JSONObject?
    /// The token family, as far as it was found.
    private(set) var content: JSONObject?

    init(find: (@Sendable (UniqueID) async throws -> TokenStatus?)?, moment: Moment) {
        (self.find, self.moment) = (find, moment)
    }

    /// Reads a refresh token. Throws `IssuedTokenInspection.Stop` for another text.
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

    /// Checks the place of a refresh token in its family. The text is not signed, so without a database only
    /// the form is known.
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

    /// Checks if the family of a verified access token is there.
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

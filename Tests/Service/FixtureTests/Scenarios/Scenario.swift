import AppleAccounts
import AppleIdentity
import Foundation
import KeySets
import SignIn
import TestSupport

/// Steps in time, each with its expected result.
struct Scenario: Decodable, Sendable {
    let summary: String
    let apps: [AppEntry]
    let steps: [ScenarioStep]

    struct AppEntry: Decodable {
        enum CodingKeys: String, CodingKey {
            case teamID = "team_id"
            case clientIDs = "client_ids"
        }

        let teamID: String
        /// Client IDs of the app, the primary client ID first.
        let clientIDs: [String]
    }
}

/// Action at a moment of a scenario.
struct ScenarioStep: Decodable, Sendable {
    enum Action: Sendable {
        case appleKeys(AppleAnswer)
        case restart
        case signIn(SignInBody)
        case verify(SignInBody)
        case flood(Flood)
        case notification(payload: String)
        case credential(Question)
        case account(Question)
        case mintNonce(String)
    }

    struct Flood: Decodable {
        enum CodingKeys: String, CodingKey {
            case count
            case identityToken = "identity_token"
        }

        let count: Int
        let identityToken: String
    }

    struct Question: Decodable {
        enum CodingKeys: String, CodingKey {
            case sub
            case clientID = "client_id"
        }

        let sub, clientID: String
    }

    private struct Delivery: Decodable {
        let payload: String
    }

    private struct Nonce: Decodable {
        let nonce: String
    }

    private enum CodingKeys: String, CodingKey {
        case at, note, expect, restart, verify, flood, notification, credential, account
        case appleKeys = "apple_keys"
        case signIn = "sign_in"
        case mintNonce = "mint_nonce"
    }

    let at: Timestamp
    let note: String?
    let expect: [String: JSONTree]
    let action: Action

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        at = try members.decode(Timestamp.self, forKey: .at)
        note = try members.decodeIfPresent(String.self, forKey: .note)
        expect = try members.decodeIfPresent([String: JSONTree].self, forKey: .expect) ?? [:]
        let actions = members.allKeys.filter { ![.at, .note, .expect].contains($0) }
        guard actions.count == 1, let name = actions.first else {
            throw FixtureError("a step does one thing, not \(actions.map(\.rawValue))")
        }
        action =
            switch name {
            case .appleKeys: .appleKeys(try members.decode(AppleAnswer.self, forKey: name))
            case .restart: .restart
            case .signIn: .signIn(try members.decode(SignInBody.self, forKey: name))
            case .verify: .verify(try members.decode(SignInBody.self, forKey: name))
            case .flood: .flood(try members.decode(Flood.self, forKey: name))
            case .notification:
                .notification(payload: try members.decode(Delivery.self, forKey: name).payload)
            case .credential: .credential(try members.decode(Question.self, forKey: name))
            case .account: .account(try members.decode(Question.self, forKey: name))
            case .mintNonce: .mintNonce(try members.decode(Nonce.self, forKey: name).nonce)
            case .at, .note, .expect: throw FixtureError("a step does something")
            }
    }
}

/// The response to a step in the form that an HTTP caller would see: a status and members.
struct Reply: Sendable {
    var status: Int
    var members: [String: JSONTree] = [:]

    var tree: JSONTree { .object(members.merging(["status": .integer(Int64(status))]) { $1 }) }

    init(status: Int, members: [String: JSONTree] = [:]) { (self.status, self.members) = (status, members) }

    /// - Throws: `error` itself when it has no response for callers.
    init(refusing error: any Error) throws {
        switch error {
        case let error as AppleTokenError: self.init(status: 401, code: error.code.rawValue)
        case let error as KeySetError:
            self.init(status: error.code == .unknownKey ? 401 : 503, code: error.code.rawValue)
        case let error as AccountRefusal:
            switch error.code {
            case .credentialRevoked: self.init(status: 403, code: error.code.rawValue)
            case .accountNotFound: self.init(status: 404, code: error.code.rawValue)
            case .accountExists, .attestationKeyTaken, .attestationKeysFull:
                self.init(status: 409, code: error.code.rawValue)
            case .callerForbidden, .accountDisabled: self.init(status: 403, code: error.code.rawValue)
            case .nonceExpired, .nonceUsed, .challengeUsed, .counterNotIncreased, .attestationKeyUnknown:
                self.init(status: 401, code: error.code.rawValue)
            }
        default: throw error
        }
    }

    init(_ outcome: SignInOutcome) {
        self.init(
            status: outcome.isNewAccount ? 201 : 200,
            members: [
                "account": JSONTree(outcome.account), "credential": JSONTree(outcome.credential),
                "is_new_account": .bool(outcome.isNewAccount),
            ])
    }

    init(_ verified: VerifiedSignIn) {
        let identity = verified.identity
        self.init(
            status: 200,
            members: [
                "identity": JSONTree(members: [
                    "iss": JSONTree(identity.issuer), "sub": JSONTree(identity.subject),
                    "client_id": JSONTree(identity.clientID), "team_id": JSONTree(verified.app.team.rawValue),
                    "email": identity.email.map { JSONTree($0) },
                    "email_verified": identity.emailVerified.map { .bool($0) },
                    "is_private_email": identity.isPrivateEmail.map { .bool($0) },
                ])
            ])
    }

    private init(status: Int, code: String) { self.init(status: status, members: ["code": JSONTree(code)]) }
}

/// Response of Apple's key endpoint from a moment on.
struct AppleAnswer: Decodable, Sendable {
    enum CodingKeys: String, CodingKey {
        case unreachable, status, headers, body
        case bodyFile = "body_file"
        case bodyPadding = "body_padding"
        case bodyEnd = "body_end"
    }

    let unreachable: Bool?
    let status: Int?
    let headers: [String: String]?
    let body, bodyFile, bodyEnd: String?
    let bodyPadding: TokenCase.TokenPart?

    /// - Throws: `KeySetFetchError` `.unreachable` when the endpoint sends no response.
    func response() throws -> KeySetResponse {
        guard let status, unreachable != true else { throw KeySetFetchError(.unreachable) }
        return KeySetResponse(
            status: status, body: try bytes(), contentType: headers?["content-type"],
            entityTag: headers?["etag"],
            cacheControl: headers?["cache-control"])
    }

    private func bytes() throws -> [UInt8] {
        if let bodyFile { return try FixtureFolder("scenarios").bytes(of: bodyFile) }
        let padding = bodyPadding.map { String(repeating: $0.text, count: $0.times ?? 1) }
        return Array([body, padding, bodyEnd].compactMap { $0 }.joined().utf8)
    }
}

/// A JSON value of a scenario, compared by the bytes of its strings.
enum JSONTree: Decodable, Hashable, Sendable {
    case bool(Bool)
    case integer(Int64)
    case text(ExactText)
    case array([JSONTree])
    case object([String: JSONTree])

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let bool = try? value.decode(Bool.self) {
            self = .bool(bool)
        } else if let integer = try? value.decode(Int64.self) {
            self = .integer(integer)
        } else if let text = try? value.decode(ExactText.self) {
            self = .text(text)
        } else if let array = try? value.decode([JSONTree].self) {
            self = .array(array)
        } else {
            self = .object(try value.decode([String: JSONTree].self))
        }
    }

    init(_ text: String) { self = .text(ExactText(text)) }

    /// An object of the members that have a value.
    init(members: [String: JSONTree?]) { self = .object(members.compactMapValues { $0 }) }

    subscript(member: String) -> JSONTree? {
        guard case .object(let members) = self else { return nil }
        return members[member]
    }

    /// Differences of `found` from this value. Additional members of `found` are ignored.
    func differences(from found: JSONTree?, at path: String = "") -> [String] {
        guard let found else { return ["\(path) is absent"] }
        switch (self, found) {
        case (.object(let expected), .object(let members)):
            return expected.sorted { $0.key < $1.key }.flatMap { name, value in
                value.differences(from: members[name], at: path.isEmpty ? name : "\(path).\(name)")
            }
        default: return self == found ? [] : ["\(path) is \(found), not \(self)"]
        }
    }
}

extension JSONTree: CustomStringConvertible {
    var description: String {
        switch self {
        case .bool(let bool): "\(bool)"
        case .integer(let integer): "\(integer)"
        case .text(let text): "\(text)"
        case .array(let array): "\(array)"
        case .object(let members): "\(members)"
        }
    }
}

extension JSONTree {
    init(_ account: Account) {
        self.init(members: [
            "id": JSONTree(account.id.rawValue), "team_id": JSONTree(account.team.rawValue),
            "sub": JSONTree(account.subject.rawValue), "email": account.email.map { JSONTree($0) },
            "email_verified": account.isEmailVerified.map { .bool($0) },
            "is_private_email": account.isPrivateEmail.map { .bool($0) },
            "email_forwarding": JSONTree(account.emailForwarding.rawValue),
            "first_name": account.profile.firstName.map { JSONTree($0) },
            "last_name": account.profile.lastName.map { JSONTree($0) },
            "credentials": .array(account.credentials.map { JSONTree($0) }),
        ])
    }

    init(_ credential: Credential) {
        self.init(members: [
            "client_id": JSONTree(credential.clientID.rawValue), "state": JSONTree(credential.state.rawValue),
            "reason": credential.reason.map { JSONTree($0.rawValue) },
            "source": credential.source.map { JSONTree($0.rawValue) },
            "since": credential.since.map { JSONTree($0.rfc3339) },
        ])
    }
}

import AppleAccounts
import AppleIdentity
import KeySets
import SignIn

/// The response to a step in the form that an HTTP caller would see: a status and members.
struct Reply: Sendable {
    var status: Int
    var members: [String: JSONTree] = [:]

    var tree: JSONTree {
        .object(members.merging(["status": .integer(Int64(status))]) { $1 })
    }

    init(status: Int, members: [String: JSONTree] = [:]) {
        (self.status, self.members) = (status, members)
    }

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

    private init(status: Int, code: String) {
        self.init(status: status, members: ["code": JSONTree(code)])
    }
}

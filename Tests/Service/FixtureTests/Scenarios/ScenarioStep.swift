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

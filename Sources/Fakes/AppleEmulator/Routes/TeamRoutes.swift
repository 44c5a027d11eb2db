import EmulatorServer
import HTTPTypes
import Hummingbird
import JOSE
public import StrictJSON

/// The actions that a team takes on Apple's developer pages: registering keys and redirect URIs, and
/// transferring apps. Also signs client secrets for manual calls.
struct TeamRoutes: Sendable {
    let state: EmulatorState

    func add(to api: ControlAPI<EmulatorRequestContext>) {
        api.add(.get, "client-keys", "Shows the keys with which teams sign client secrets.") { list() }
        api.add(
            .post, "teams/{team}/client-keys",
            "Registers a key for client secrets, or makes a key; text: the .p8 of the new key.",
            status: .created, example: ["kid": "ABC123DEFG"]
        ) { input throws(EmulatorError) in
            (input.path("team", example: "SIWADEV000"), try input.clientKey())
        } use: { teamID, recipe in
            let key = try recipe.key(of: teamID)
            try state.addClientKey(key)
            return ControlResponse(RegisteredKey(key: key), text: key.privateKeyPEM ?? key.keyID)
        }
        api.add(.delete, "teams/{team}/client-keys/{kid}", "Ends a key for client secrets.") { input in
            (input.path("team"), input.path("kid"))
        } use: { teamID, keyID in
            try state.removeClientKey(keyID, of: teamID)
            return list()
        }
        api.add(
            .post, "client-secrets", "Signs a client secret; text: the secret.", status: .created,
            example: ["lifetime": 600]
        ) { input throws(EmulatorError) in
            try input.clientSecret()
        } use: { recipe in
            let secret = try state.sign(recipe)
            return ControlResponse(SignedSecret(secret: secret), text: secret)
        }
        api.add(
            .put, "redirect-uris", "Replaces the return URLs of an app for the web flow.",
            example: ["redirect_uris": ["https://app.example.com/callback"]]
        ) { input throws(EmulatorError) in
            try input.require("redirect_uris")
            return (try input.string("client_id"), try input.strings("redirect_uris") ?? [])
        } use: { clientID, uris in
            try state.setRedirectURIs(uris, of: clientID ?? state.apps[0].primaryClientID)
            return ControlResponse(RedirectURIs(uris: uris), text: uris.joined(separator: "\n"))
        }
        api.add(.get, "transfers", "Shows the transfers of apps.") { transfers() }
        api.add(
            .post, "transfers", "Moves an app to another team at once.", example: ["team_id": "NEWTEAM000"]
        ) { input throws(EmulatorError) in
            (try input.string("client_id"), try input.required("team_id"))
        } use: { clientID, teamID in
            _ = try state.transfer(clientID ?? state.apps[0].primaryClientID, to: teamID)
            return transfers()
        }
    }

    private func list() -> ControlResponse<ClientKeyList> {
        let keys = state.clientKeys
        return ControlResponse(
            ClientKeyList(keys: keys),
            text: keys.map { "\($0.teamID) \($0.keyID)" }.joined(separator: "\n"))
    }

    private func transfers() -> ControlResponse<TransferList> {
        let transfers = state.transfers
        return ControlResponse(
            TransferList(transfers: transfers),
            text: transfers.map { "\($0.app) \($0.recipient)" }.joined(separator: "\n"))
    }
}

private struct ClientKeyList: JSONBody {
    let keys: [ClientKey]

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("client_keys") { $0.keys }
    }
}

private struct RegisteredKey: JSONBody {
    let key: ClientKey

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member.inline { $0.key }
        member("private_key", "The content of the .p8 file; absent if only the public key is known.") {
            $0.key.privateKeyPEM
        }
    }
}

extension ClientKey: JSONBody {
    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("team_id") { $0.teamID }
        member("kid") { $0.keyID }
        member("jwk", "The public key (RFC 7517).") { $0.publicKey.jwk(keyID: $0.keyID) }
    }
}

private struct SignedSecret: JSONBody {
    let secret: String

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("client_secret") { $0.secret }
    }
}

private struct RedirectURIs: JSONBody {
    let uris: [String]

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("redirect_uris") { $0.uris }
    }
}

private struct TransferList: JSONBody {
    let transfers: [AppTransfer]

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("transfers") { $0.transfers }
    }
}

extension AppTransfer: JSONBody {
    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("client_id", "The first client ID of the app.") { $0.app }
        member("sender", "The former team.") { $0.sender }
        member("recipient", "The new team.") { $0.recipient }
        member("accepted_at", "Seconds since 1970.") { $0.acceptedAt / 1000 }
        member("open_until", "Seconds since 1970. Until then, users can be migrated.") {
            ($0.acceptedAt + AppTransfer.openFor) / 1000
        }
    }
}

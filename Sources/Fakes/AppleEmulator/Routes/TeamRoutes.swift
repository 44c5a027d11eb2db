import EmulatorServer
import HTTPTypes
import Hummingbird
import JOSE
import StrictJSON

/// The actions that a team takes on Apple's developer pages: registering keys and redirect URIs, and
/// transferring apps. Also signs client secrets for manual calls.
struct TeamRoutes: Sendable {
    let state: EmulatorState

    func add(to api: ControlAPI<EmulatorRequestContext>) {
        api.control(.get, "client-keys", "Shows the keys with which teams sign client secrets.") { list() }
        api.control(
            .post, "teams/{team}/client-keys",
            "Registers a key for client secrets, or makes a key; text: the .p8 of the new key.",
            status: .created, example: ["kid": "ABC123DEFG"]
        ) { input throws(EmulatorError) in
            (input.path("team", example: "SIWADEV000"), try input.clientKey())
        } use: { teamID, recipe in
            let key = try recipe.key(of: teamID)
            try state.addClientKey(key)
            var json = key.json
            json["private_key"] = key.privateKeyPEM.map { .string($0) }
            return ControlResponse(json: json, text: key.privateKeyPEM ?? key.keyID)
        }
        api.control(.delete, "teams/{team}/client-keys/{kid}", "Ends a key for client secrets.") { input in
            (input.path("team"), input.path("kid"))
        } use: { teamID, keyID in
            try state.removeClientKey(keyID, of: teamID)
            return list()
        }
        api.control(
            .post, "client-secrets", "Signs a client secret; text: the secret.", status: .created,
            example: ["lifetime": 600]
        ) { input throws(EmulatorError) in
            try input.clientSecret()
        } use: { recipe in
            let secret = try state.sign(recipe)
            return ControlResponse(json: JSONObject([("client_secret", .string(secret))]), text: secret)
        }
        api.control(
            .put, "redirect-uris", "Replaces the return URLs of an app for the web flow.",
            example: ["redirect_uris": ["https://app.example.com/callback"]]
        ) { input throws(EmulatorError) in
            try input.require("redirect_uris")
            return (try input.string("client_id"), try input.strings("redirect_uris") ?? [])
        } use: { clientID, uris in
            try state.setRedirectURIs(uris, of: clientID ?? state.apps[0].primaryClientID)
            return ControlResponse(
                json: JSONObject([("redirect_uris", .array(uris.map { .string($0) }))]),
                text: uris.joined(separator: "\n"))
        }
        api.control(.get, "transfers", "Shows the transfers of apps.") { transfers() }
        api.control(
            .post, "transfers", "Moves an app to another team at once.", example: ["team_id": "NEWTEAM000"]
        ) { input throws(EmulatorError) in
            (try input.string("client_id"), try input.required("team_id"))
        } use: { clientID, teamID in
            _ = try state.transfer(clientID ?? state.apps[0].primaryClientID, to: teamID)
            return transfers()
        }
    }

    private func list() -> ControlResponse {
        let keys = state.clientKeys
        return ControlResponse(
            json: JSONObject([("client_keys", .array(keys.map { .object($0.json) }))]),
            text: keys.map { "\($0.teamID) \($0.keyID)" }.joined(separator: "\n"))
    }

    private func transfers() -> ControlResponse {
        let transfers = state.transfers
        let json = transfers.map { transfer in
            JSONValue.object(
                JSONObject([
                    ("client_id", .string(transfer.app)), ("sender", .string(transfer.sender)),
                    ("recipient", .string(transfer.recipient)),
                    ("accepted_at", .integer(transfer.acceptedAt / 1000)),
                    ("open_until", .integer((transfer.acceptedAt + AppTransfer.openFor) / 1000)),
                ]))
        }
        return ControlResponse(
            json: JSONObject([("transfers", .array(json))]),
            text: transfers.map { "\($0.app) \($0.recipient)" }.joined(separator: "\n"))
    }
}

extension ClientKey {
    var json: JSONObject {
        JSONObject([
            ("team_id", .string(teamID)), ("kid", .string(keyID)),
            ("jwk", .object(publicKey.jwk(keyID: keyID))),
        ])
    }
}

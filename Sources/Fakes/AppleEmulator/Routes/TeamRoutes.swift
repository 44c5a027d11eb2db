import EmulatorServer
import HTTPTypes
import Hummingbird
import JOSE
import StrictJSON

/// The actions that a team takes on Apple's developer pages: registering keys and redirect URIs, and
/// transferring apps. Also signs client secrets for manual calls.
struct TeamRoutes: Sendable {
    let state: EmulatorState

    func add(to group: RouterGroup<EmulatorRequestContext>) {
        group.control(.get, "client-keys") { request in list() }
        group.control(.post, "teams/:team/client-keys") { request in
            let key = try request.input { input throws(EmulatorError) in
                try input.clientKey(of: request.pathPart("team"))
            }
            try state.addClientKey(key)
            var json = key.json
            json["private_key"] = key.privateKeyPEM.map { .string($0) }
            return ControlResponse(status: .created, json: json, text: key.privateKeyPEM ?? key.keyID)
        }
        group.control(.delete, "teams/:team/client-keys/:kid") { request in
            try state.removeClientKey(request.pathPart("kid"), of: request.pathPart("team"))
            return list()
        }
        group.control(.post, "client-secrets") { request in
            let secret = try state.sign(
                request.input { input throws(EmulatorError) in try input.clientSecret() })
            return ControlResponse(
                status: .created, json: JSONObject([("client_secret", .string(secret))]), text: secret)
        }
        group.control(.put, "redirect-uris") { request in
            let (clientID, uris) = try request.input { input throws(EmulatorError) in
                (try input.string("client_id"), try input.strings("redirect_uris"))
            }
            guard let uris else {
                throw EmulatorError(.memberMalformed, detail: "redirect_uris: an array of strings")
            }
            try state.setRedirectURIs(uris, of: clientID ?? state.apps[0].primaryClientID)
            return ControlResponse(
                json: JSONObject([("redirect_uris", .array(uris.map { .string($0) }))]),
                text: uris.joined(separator: "\n"))
        }
        group.control(.get, "transfers") { request in transfers() }
        group.control(.post, "transfers") { request in
            let (clientID, teamID) = try request.input { input throws(EmulatorError) in
                (try input.string("client_id"), try input.string("team_id"))
            }
            guard let teamID else { throw EmulatorError(.memberMalformed, detail: "team_id: a string") }
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

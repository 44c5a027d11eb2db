import HTTPTypes
import Hummingbird
import StrictJSON

/// The actions of a team on Apple's developer pages: registering keys and redirect URIs, and transferring
/// apps. It also signs client secrets for manual calls.
struct TeamRoutes: Sendable {
    let state: EmulatorState

    func add(to group: RouterGroup<EmulatorRequestContext>) {
        group.control(.get, "client-keys") { call in list() }
        group.control(.post, "teams/:team/client-keys") { call in
            let key = try call.input { input throws(EmulatorError) in
                try input.clientKey(of: call.pathPart("team"))
            }
            try state.addClientKey(key)
            var json = key.json
            json["private_key"] = key.privateKeyPEM.map { .string($0) }
            return ControlAnswer(status: .created, json: json, text: key.privateKeyPEM ?? key.keyID)
        }
        group.control(.delete, "teams/:team/client-keys/:kid") { call in
            try state.removeClientKey(call.pathPart("kid"), of: call.pathPart("team"))
            return list()
        }
        group.control(.post, "client-secrets") { call in
            let secret = try state.sign(
                call.input { input throws(EmulatorError) in try input.clientSecret() })
            return ControlAnswer(
                status: .created, json: JSONObject([("client_secret", .string(secret))]), text: secret)
        }
        group.control(.put, "redirect-uris") { call in
            let (clientID, uris) = try call.input { input throws(EmulatorError) in
                (try input.string("client_id"), try input.strings("redirect_uris"))
            }
            guard let uris else {
                throw EmulatorError(.memberMalformed, detail: "redirect_uris: an array of strings")
            }
            try state.setRedirectURIs(uris, of: clientID ?? state.apps[0].primaryClientID)
            return ControlAnswer(
                json: JSONObject([("redirect_uris", .array(uris.map { .string($0) }))]),
                text: uris.joined(separator: "\n"))
        }
        group.control(.get, "transfers") { call in transfers() }
        group.control(.post, "transfers") { call in
            let (clientID, teamID) = try call.input { input throws(EmulatorError) in
                (try input.string("client_id"), try input.string("team_id"))
            }
            guard let teamID else { throw EmulatorError(.memberMalformed, detail: "team_id: a string") }
            _ = try state.transfer(clientID ?? state.apps[0].primaryClientID, to: teamID)
            return transfers()
        }
    }

    private func list() -> ControlAnswer {
        let keys = state.clientKeys
        return ControlAnswer(
            json: JSONObject([("client_keys", .array(keys.map { .object($0.json) }))]),
            text: keys.map { "\($0.teamID) \($0.keyID)" }.joined(separator: "\n"))
    }

    private func transfers() -> ControlAnswer {
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
        return ControlAnswer(
            json: JSONObject([("transfers", .array(json))]),
            text: transfers.map { "\($0.app) \($0.recipient)" }.joined(separator: "\n"))
    }
}

import EmulatorServer
import HTTPTypes
import Hummingbird
import StrictJSON

/// Shows and rotates Apple's signing keys.
struct KeyRoutes: Sendable {
    let state: EmulatorState

    func add(to api: ControlAPI<EmulatorRequestContext>) {
        api.control(.get, "keys", "Shows Apple's signing keys; text: the IDs of the published keys.") {
            list()
        }
        api.control(
            .post, "keys", "Adds a signing key; text: the key ID.", status: .created,
            example: ["signs": false]
        ) { input throws(EmulatorError) in
            (try Self.keyID(&input), try input.bool("published") ?? true, try input.bool("signs") ?? true)
        } use: { keyID, isPublished, signs in
            let key = try await state.addKey(keyID: keyID, isPublished: isPublished, signs: signs)
            return ControlResponse(json: JSONObject([("kid", .string(key.keyID))]), text: key.keyID)
        }
        api.control(
            .post, "keys/rotate", "Replaces all signing keys, or takes the next step in Apple's order.",
            example: ["mode": "apple"]
        ) { input throws(EmulatorError) in
            try input.word("mode", KeyRotationMode.self) ?? .atOnce
        } use: { mode in
            switch mode {
            case .atOnce:
                try await state.replaceKeys()
                return list()
            case .apple:
                let (step, keyID) = try await state.rotateOneStep()
                var json = list().json
                json["step"] = .string(step.word)
                json["kid"] = .string(keyID)
                return ControlResponse(json: json, text: "\(step.word) \(keyID)")
            }
        }
        api.control(
            .put, "keys/{kid}", "Changes the use of a signing key.", example: ["published": true]
        ) { input throws(EmulatorError) in
            (input.path("kid"), try input.bool("published"), try input.bool("signs"))
        } use: { keyID, isPublished, signs in
            try state.useKey(keyID, isPublished: isPublished, signs: signs)
            return list()
        }
        api.control(.delete, "keys/{kid}", "Retires a signing key.") {
            $0.path("kid")
        } use: { keyID in
            try state.retireKey(keyID)
            return list()
        }
    }

    private func list() -> ControlResponse {
        let keys = state.keys
        let json = keys.map { held in
            JSONValue.object(
                JSONObject([
                    ("kid", .string(held.key.keyID)), ("published", .bool(held.isPublished)),
                    ("signs", .bool(held.signs)),
                ]))
        }
        let published = keys.filter(\.isPublished).map(\.key.keyID)
        return ControlResponse(
            json: JSONObject([("keys", .array(json))]), text: published.joined(separator: "\n"))
    }

    private static func keyID(_ input: inout ControlInput) throws(EmulatorError) -> String? {
        guard let keyID = try input.string("kid", maximum: 255) else { return nil }
        guard !keyID.isEmpty, keyID.utf8.allSatisfy(ControlInput.isUnreserved) else {
            throw EmulatorError(
                .memberMalformed, detail: "kid: letters, digits, dots, hyphens and underscores")
        }
        return keyID
    }
}

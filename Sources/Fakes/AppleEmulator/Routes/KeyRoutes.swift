import EmulatorServer
import HTTPTypes
import Hummingbird
import StrictJSON

/// Shows and rotates Apple's signing keys.
struct KeyRoutes: Sendable {
    let state: EmulatorState

    func add(to group: RouterGroup<EmulatorRequestContext>) {
        group.control(.get, "keys") { request in list() }
        group.control(.post, "keys") { request in
            let (keyID, isPublished, signs) = try request.input { input throws(EmulatorError) in
                (try Self.keyID(&input), try input.bool("published") ?? true, try input.bool("signs") ?? true)
            }
            let key = try await state.addKey(keyID: keyID, isPublished: isPublished, signs: signs)
            return ControlResponse(
                status: .created, json: JSONObject([("kid", .string(key.keyID))]), text: key.keyID)
        }
        group.control(.post, "keys/rotate") { request in
            let mode = try request.input { input throws(EmulatorError) in
                try input.word("mode", KeyRotationMode.self) ?? .atOnce
            }
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
        group.control(.put, "keys/:kid") { request in
            let (isPublished, signs) = try request.input { input throws(EmulatorError) in
                (try input.bool("published"), try input.bool("signs"))
            }
            try state.useKey(request.pathPart("kid"), isPublished: isPublished, signs: signs)
            return list()
        }
        group.control(.delete, "keys/:kid") { request in
            try state.retireKey(request.pathPart("kid"))
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

import EmulatorServer
import HTTPTypes
import Hummingbird
public import StrictJSON

/// Shows and rotates Apple's signing keys.
struct KeyRoutes: Sendable {
    let state: EmulatorState

    func add(to api: ControlAPI<EmulatorRequestContext>) {
        api.add(.get, "keys", "Shows Apple's signing keys; text: the IDs of the published keys.") {
            list()
        }
        api.add(
            .post, "keys", "Adds a signing key; text: the key ID.", status: .created,
            example: ["signs": false]
        ) { input throws(EmulatorError) in
            (try Self.keyID(&input), try input.bool("published") ?? true, try input.bool("signs") ?? true)
        } use: { keyID, isPublished, signs in
            let key = try await state.addKey(keyID: keyID, isPublished: isPublished, signs: signs)
            return ControlResponse(AddedKey(keyID: key.keyID), text: key.keyID)
        }
        api.add(
            .post, "keys/rotate", "Replaces all signing keys, or takes the next step in Apple's order.",
            example: ["mode": "apple"]
        ) { input throws(EmulatorError) in
            try input.word("mode", KeyRotationMode.self) ?? .atOnce
        } use: { mode in
            switch mode {
            case .atOnce:
                try await state.replaceKeys()
                return ControlResponse(KeyRotation(keys: state.keys), text: publishedKeyIDs)
            case .apple:
                let (step, keyID) = try await state.rotateOneStep()
                return ControlResponse(
                    KeyRotation(keys: state.keys, step: step, keyID: keyID), text: "\(step.word) \(keyID)")
            }
        }
        api.add(
            .put, "keys/{kid}", "Changes the use of a signing key.", example: ["published": true]
        ) { input throws(EmulatorError) in
            (input.path("kid"), try input.bool("published"), try input.bool("signs"))
        } use: { keyID, isPublished, signs in
            try state.useKey(keyID, isPublished: isPublished, signs: signs)
            return list()
        }
        api.add(.delete, "keys/{kid}", "Retires a signing key.") {
            $0.path("kid")
        } use: { keyID in
            try state.retireKey(keyID)
            return list()
        }
    }

    private func list() -> ControlResponse<KeyList> {
        ControlResponse(KeyList(keys: state.keys), text: publishedKeyIDs)
    }

    private var publishedKeyIDs: String {
        state.keys.filter(\.isPublished).map(\.key.keyID).joined(separator: "\n")
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

private struct AddedKey: JSONBody {
    let keyID: String

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("kid") { $0.keyID }
    }
}

private struct KeyList: JSONBody {
    let keys: [HeldKey]

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("keys") { $0.keys }
    }
}

private struct KeyRotation: JSONBody {
    let keys: [HeldKey]
    var step: KeyRotationStep?
    var keyID: String?

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("keys", "All keys after the rotation.") { $0.keys }
        member("step", ["enum": ["publish", "sign", "retire"], "description": "Only in Apple's order."]) {
            $0.step?.word
        }
        member("kid", "The key of the step.") { $0.keyID }
    }
}

extension HeldKey: JSONBody {
    public static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("kid") { $0.key.keyID }
        member("published", "True if the key set has the key.") { $0.isPublished }
        member("signs", "True if the key signs valid tokens.") { $0.signs }
    }
}

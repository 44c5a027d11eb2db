import AppleEmulator
import Console
import EmulatorServer
import Encodings
import GoogleEmulator

extension WorldPages {
    private static let path = WorldTabs.Place.keys.rawValue
    private static let day: Int64 = 86_400

    var keyPages: [ConsolePage] {
        [
            ConsolePage(.get, Self.path, access: .development) { request in
                .template(
                    "world-keys", title: "Keys and clock",
                    values: KeysValues(request, world: world))
            },
            ConsolePage(.post, "/world/clock", access: .development) { request in
                let seconds: [String: Int64] = ["hour": 3600, "day": Self.day, "month": 30 * Self.day]
                guard let step = seconds[request.form["step"] ?? ""] else {
                    return .refused("The step is hour, day or month.")
                }
                return try await Self.act(then: Self.path) {
                    try world.advanceClock(bySeconds: step)
                    return "Apple's clock has moved on."
                }
            },
            ConsolePage(.post, Self.path, access: .development) { request in
                guard let change = WorldKeyChange(rawValue: request.form["change"] ?? ""),
                    let party = ExchangeStep.Party(rawValue: request.form["party"] ?? "")
                else { return .refused("This is no change of a key.") }
                // The pages with faults have a button for it too.
                let pages = ["/overview", WorldTabs.Place.faults.rawValue]
                let next = pages.first { $0 == request.form["then"] } ?? Self.path
                return try await Self.act(then: next) {
                    try await world.change(change, of: party, key: request.form["key"])
                    return Self.sentence(change)
                }
            },
        ]
    }

    private static func sentence(_ change: WorldKeyChange) -> String {
        switch change {
        case .publish: "A new key is published. It does not sign yet."
        case .sign: "The key signs now."
        case .retire: "The key is retired."
        case .replaceAll: "New keys sign."
        }
    }
}

/// A change of keys. Google's keys are only replaced.
enum WorldKeyChange: String {
    /// Publishes a new key that does not sign yet.
    case publish
    /// Signs with a published key.
    case sign
    /// Neither publishes the key nor signs with it.
    case retire
    /// Replaces all keys at once, which is the hardest case for what caches keys.
    case replaceAll = "replace-all"
}

private struct KeysValues: Sendable {
    struct Key: Sendable {
        let party: String
        let id: String
        let isPublished: Bool
        let signs: Bool
        /// The key is published and does not sign.
        let canSign: Bool
        let canRetire: Bool
        let csrf: String
    }

    let tabs = WorldTabs(.keys)
    let csrf: String
    let now: String
    let ahead: String?
    let apple: [Key]
    let hasGoogle: Bool
    let google: [Key]

    init(_ request: ConsoleRequest, world: DevelopmentFakes) {
        let token = request.viewer.formToken
        csrf = token
        let state = world.apple.state
        now = RFC3339.text(milliseconds: state.now)
        ahead = state.clockOffset / 1000 == 0 ? nil : Self.words(state.clockOffset / 1000)
        apple = state.keys.map { held in
            Key(
                party: "apple", id: held.key.keyID, isPublished: held.isPublished, signs: held.signs,
                canSign: held.isPublished && !held.signs, canRetire: !held.isRetired, csrf: token)
        }
        let ids = world.google?.state.keyIDs ?? []
        google = ids.map { id in
            Key(
                party: "google", id: id, isPublished: true, signs: id == ids.last, canSign: false,
                canRetire: false, csrf: token)
        }
        hasGoogle = world.google != nil
    }

    private static func words(_ seconds: Int64) -> String {
        let (days, hours) = (seconds / 86_400, seconds % 86_400 / 3600)
        return [days == 0 ? nil : "\(days) d", hours == 0 ? nil : "\(hours) h"].compactMap { $0 }
            .joined(separator: " ")
    }
}

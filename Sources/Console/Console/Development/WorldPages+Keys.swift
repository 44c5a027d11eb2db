import Encodings

extension WorldPages {
    private static let path = WorldTabs.Place.keys.rawValue
    private static let day: Int64 = 86_400

    var keyPages: [ConsolePage] {
        [
            ConsolePage(.get, Self.path, access: .development) { request in
                .page(
                    template: "world-keys", title: "Keys and clock",
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
                    let party = WorldExchange.Party(rawValue: request.form["party"] ?? "")
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

    init(_ request: ConsoleRequest, world: any FakeWorld) {
        let token = request.viewer.formToken
        csrf = token
        let clock = world.clock
        now = RFC3339.text(milliseconds: clock.now)
        ahead = clock.aheadBy == 0 ? nil : Self.words(clock.aheadBy)
        let keys = world.keys.map { key in
            Key(
                party: key.party.rawValue, id: key.id, isPublished: key.isPublished, signs: key.signs,
                canSign: key.party == .apple && key.isPublished && !key.signs,
                canRetire: key.party == .apple && (key.isPublished || key.signs), csrf: token)
        }
        apple = keys.filter { $0.party == WorldExchange.Party.apple.rawValue }
        google = keys.filter { $0.party == WorldExchange.Party.google.rawValue }
        hasGoogle = world.hasGoogle
    }

    private static func words(_ seconds: Int64) -> String {
        let (days, hours) = (seconds / 86_400, seconds % 86_400 / 3600)
        return [days == 0 ? nil : "\(days) d", hours == 0 ? nil : "\(hours) h"].compactMap { $0 }
            .joined(separator: " ")
    }
}

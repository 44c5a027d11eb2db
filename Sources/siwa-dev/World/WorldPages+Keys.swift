import AppleEmulator
import Console
import EmulatorServer
import Encodings
import GoogleEmulator
import Pages

extension WorldPages {
    private static let day: Int64 = 86_400

    var keyPages: [ConsolePage] {
        [
            ConsolePage(.get, Place.keys, access: .development, handle: keys),
            Self.action("/world/clock") { request in
                let seconds: [String: Int64] = ["hour": 3600, "day": Self.day, "month": 30 * Self.day]
                guard let step = seconds[request.form["step"] ?? ""] else {
                    return .refused("The step is hour, day or month.")
                }
                try world.apple.state.advanceClock(bySeconds: step)
                return .redirect(to: Place.keys, notice: "Apple's clock has moved on.")
            },
            Self.action(Place.keys) { request in
                guard let change = WorldKeyChange(rawValue: request.form["change"] ?? ""),
                    let party = ExchangeStep.Party(rawValue: request.form["party"] ?? "")
                else { return .refused("This is no change of a key.") }
                // The fault pages also have this button.
                let pages = [Self.overview, Place.faults]
                let next = pages.first { $0 == request.form["then"] } ?? Place.keys
                try await self.change(change, of: party, key: request.form["key"] ?? "")
                return .redirect(to: next, notice: Self.sentence(change))
            },
        ]
    }

    private func change(_ change: WorldKeyChange, of party: ExchangeStep.Party, key: String) async throws {
        let apple = world.apple.state
        switch (party, change) {
        case (.apple, .publish): _ = try await apple.addKey(keyID: nil, isPublished: true, signs: false)
        case (.apple, .sign): try apple.useKey(key, isPublished: true, signs: true)
        case (.apple, .retire): try apple.retireKey(key)
        case (.apple, .replaceAll): try await apple.replaceKeys()
        case (.google, .publish), (.google, .replaceAll): try world.google?.state.replaceSigningKey()
        case (.google, .sign), (.google, .retire), (.siwa, _), (.browser, _):
            throw DevelopmentWorldError("This key cannot be changed here.")
        }
    }

    private static func sentence(_ change: WorldKeyChange) -> String {
        switch change {
        case .publish: "A new key is published. It does not sign yet."
        case .sign: "The key signs now."
        case .retire: "The key is retired."
        case .replaceAll: "New keys sign."
        }
    }

    private func keys(_ request: ConsoleRequest) -> ConsoleAnswer {
        let state = world.apple.state
        return Self.page("Keys and clock", at: Place.keys) {
            Card("Apple's clock") {
                Self.clock(state.now, ahead: state.clockOffset / 1000)
                PostForm(to: "/world/clock", request, look: "row") {
                    Self.button("+1 hour", "secondary", sends: ("step", "hour"))
                    Self.button("+1 day", sends: ("step", "day"))
                    Self.button("+30 days", "secondary", sends: ("step", "month"))
                }
            }
            Card("Apple's keys") {
                Table("Apple's keys", [.any("Key ID"), "Published", "Signs", "Actions"], state.keys) { held in
                    let id = held.key.keyID
                    func change(_ change: WorldKeyChange, _ title: String) -> PostForm {
                        PostForm(to: Place.keys, request, [("party", "apple"), ("key", id)]) {
                            Self.button(title, "quiet", sends: ("change", change.rawValue), unseen: " \(id)")
                        }
                    }
                    let actions = HTML {
                        if held.isPublished && !held.signs { change(.sign, "Sign with it") }
                        if !held.isRetired { change(.retire, "Retire") }
                    }
                    return [
                        .code(id), held.isPublished ? "yes" : .muted("no"), held.signs ? "yes" : .muted("no"),
                        actions,
                    ]
                }
                PostForm(to: Place.keys, request, look: "row", [("party", "apple")]) {
                    Self.button("Publish a new key", sends: ("change", "publish"))
                    Self.button("Replace all keys at once", "danger", sends: ("change", "replace-all"))
                }
                """
                <p class="muted">Apple publishes a key before it signs. A replacement of all keys at once is the \
                hardest case: siwa fetches the key set when it meets an unknown key.</p>
                """
            }
            if let ids = world.google?.state.keyIDs {
                Card("Google's keys") {
                    "<ul>"
                    for id in ids {
                        let mark: HTML = id == ids.last ? " <span class=\"badge\">signs</span>" : ""
                        "<li>\(HTML.code(id))\(mark)</li>"
                    }
                    "</ul>"
                    PostForm(to: Place.keys, request, look: "row", [("party", "google")]) {
                        Self.button(
                            "Publish and sign with a new key", "secondary", sends: ("change", "publish"))
                    }
                }
            }
        }
    }

    /// - Parameter ahead: Number of seconds that the clock is ahead.
    private static func clock(_ now: Int64, ahead: Int64) -> HTML {
        let time = RFC3339.text(milliseconds: now)
        let (days, hours) = (ahead / day, ahead % day / 3600)
        let words = [days == 0 ? nil : "\(days) d", hours == 0 ? nil : "\(hours) h"].compactMap(\.self)
        let lead: HTML =
            ahead == 0 ? "" : ", <span class=\"warn\">\(words.joined(separator: " ")) ahead</span>"
        return """
            <p><time datetime="\(time)">\(time)</time>\(lead). The clock of siwa does not move: with Apple's clock \
            more than 60 seconds ahead, siwa refuses its new tokens as from the future.</p>
            """
    }
}

/// A change to a fake's signing keys. Google's keys can only be replaced.
enum WorldKeyChange: String {
    /// Publishes a new key without signing with it yet.
    case publish
    /// Signs with a published key.
    case sign
    /// Stops publishing the key and signing with it.
    case retire
    /// Replaces all keys at once, which is the hardest case for key caches.
    case replaceAll = "replace-all"
}

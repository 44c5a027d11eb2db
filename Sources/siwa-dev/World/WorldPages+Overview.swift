import Console
import EmulatorServer
import Pages

extension WorldPages {
    /// The card of the overview: buttons for people, and the faults.
    func overviewCard(_ request: ConsoleRequest) -> HTML {
        func flip(_ fault: FaultSwitch, isOn: Bool) -> HTML {
            let (state, word) = isOn ? ("off", "Mend") : ("on", "Break")
            return PostForm(to: "/overview/fault", request, [("name", fault.name), ("state", state)]) {
                "<button class=\"quiet\" aria-label=\"\(word): \(fault.title)\">\(word)</button>"
            }.html
        }
        let faults = world.faults.map { (fault: $0, isOn: world.isOn($0)) }
        let active = faults.filter(\.isOn).map(\.fault)
        return HTML {
            Card("Try it", id: "world") {
                Division("bar") {
                    PostForm(to: "/overview/sign-in", request) { Self.button("New person signs in") }
                    PostForm(to: "/overview/link", request) { Self.button("Link with Google") }
                    PostForm(to: "/overview/stop", request) { Self.button("Person stops using the app") }
                }
                if !active.isEmpty {
                    "<h3>Faults that are on</h3>"
                    "<ul class=\"switches\">"
                    for fault in active {
                        "<li><span class=\"badge warn\">on</span> \(fault.title) \(flip(fault, isOn: true))"
                        // The service still has the keys of the party in its cache.
                        if let party = fault.withheldKeysOf {
                            let fields = [("then", Self.overview), ("party", party.rawValue)]
                            let replace = PostForm(to: "/world/keys", request, fields) {
                                Self.button("Replace all keys", "danger", sends: ("change", "replace-all"))
                            }.html
                            """
                            <div class="bar"><span class="muted">siwa still has the keys in its cache, so sign-ins go on. \
                            Replace all keys, and the next sign-in needs one that siwa does not have.</span> \
                            \(replace)</div>
                            """
                        }
                        "</li>"
                    }
                    "</ul>"
                }
                Details("Break something", isOpen: !active.isEmpty) {
                    Table("Faults", [.head("Fault"), "State", "Switch"], faults) { fault, isOn in
                        [.text(fault.title), isOn ? "on" : "off", flip(fault, isOn: isOn)]
                    }
                }
            }
        }
    }

    /// The actions of the card.
    var overviewPages: [ConsolePage] {
        func act(_ path: String, _ body: @escaping @Sendable () async throws -> String) -> ConsolePage {
            ConsolePage(.post, path, access: .development) { _ in
                try await Self.act(then: Self.overview, body)
            }
        }
        return [
            act("/overview/sign-in") { try await world.newPersonSignsIn() },
            act("/overview/link") { try await world.linkWithGoogle() },
            act("/overview/stop") { try await world.personStopsUsingTheApp() },
            ConsolePage(.post, "/overview/fault", access: .development) { request in
                guard let name = request.form["name"], let state = request.form["state"],
                    ["on", "off"].contains(state),
                    let fault = try await world.switchFault(named: name, isOn: state == "on")
                else { return .refused("There is no such fault. Go back, and choose one of the list.") }
                return .redirect(
                    to: Self.overview, notice: state == "on" ? fault.notice : "The fault is off.")
            },
        ]
    }

    static let overview = "/overview"
}

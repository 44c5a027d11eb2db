import Console
import EmulatorServer
import Pages

extension WorldPages {
    var faultPages: [ConsolePage] {
        let path = Place.faults.rawValue
        return [
            ConsolePage(.get, path, access: .development, handle: faults),
            Self.action(path) { request in
                guard let name = request.form["fault"] else { return .refused("No fault is named.") }
                guard let fault = world.faults.first(where: { $0.name == name }) else {
                    return .refused("There is no fault of this name.")
                }
                let isOn = request.form["on"] == "1"
                try await fault.turn(isOn, world)
                // The overview page also has fault switches, so the action may return to that page.
                return .redirect(
                    to: request.form["then"] == Self.overview ? Self.overview : path,
                    notice: isOn ? fault.notice : "The fault is off.")
            },
        ]
    }

    private func faults(_ request: ConsoleRequest) -> ConsoleAnswer {
        Self.page("Faults", at: .faults) {
            "<p>A fault stays until it is switched off. One endpoint has one fault at a time.</p>"
            Division("grid") {
                for group in FaultSwitch.Group.allCases {
                    let faults = world.faults.filter { $0.group == group }
                    if !faults.isEmpty {
                        Card(.text(group.rawValue)) {
                            "<ul class=\"switches\">\(HTML(faults.map { item($0, request) }))</ul>"
                        }
                    }
                }
            }
        }
    }

    private func item(_ fault: FaultSwitch, _ request: ConsoleRequest) -> HTML {
        let isOn = fault.isOn(world) == true
        return HTML {
            "<li>"
            PostForm(
                to: Place.faults.rawValue, request, look: "",
                [("fault", fault.name), ("on", isOn ? "0" : "1")]
            ) {
                """
                <button class="quiet" role="switch" aria-checked="\(isOn ? "true" : "false" as String)" \
                aria-label="\(fault.title)">\(isOn ? .span("bad", "On") : "Off" as HTML)</button> \
                <span>\(fault.title)</span>
                """
            }
            if isOn, let party = fault.withheldKeysOf {
                replacement(
                    of: party, then: Place.faults.rawValue, request, look: "row",
                    "siwa still has the keys in its cache.")
            }
            "</li>"
        }
    }

    /// The service still has the party's keys in its cache, so this button replaces them to make the fault
    /// visible.
    private func replacement(
        of party: ExchangeStep.Party, then path: String, _ request: ConsoleRequest, look: String,
        _ words: String
    ) -> PostForm {
        PostForm(to: Place.keys.rawValue, request, look: look, [("then", path), ("party", party.rawValue)]) {
            HTML.muted(words)
            Self.button("Replace all keys", "danger", sends: ("change", "replace-all"))
        }
    }
}

extension WorldPages {
    /// Returns the card for the overview: buttons for people, and the faults.
    func overviewCard(_ request: ConsoleRequest) -> HTML {
        func flip(_ fault: FaultSwitch, isOn: Bool) -> HTML {
            let word = isOn ? "Mend" : "Break"
            let fields = [("fault", fault.name), ("on", isOn ? "0" : "1"), ("then", Self.overview)]
            return PostForm(to: Place.faults.rawValue, request, fields) {
                "<button class=\"quiet\" aria-label=\"\(word): \(fault.title)\">\(word)</button>"
            }.html
        }
        let faults = world.faults
        let active = faults.filter { $0.isOn(world) == true }
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
                        if let party = fault.withheldKeysOf {
                            replacement(
                                of: party, then: Self.overview, request, look: "bar",
                                "siwa still has the keys in its cache, so sign-ins go on. Replace all keys, and the "
                                    + "next sign-in needs one that siwa does not have.")
                        }
                        "</li>"
                    }
                    "</ul>"
                }
                Details("Break something", isOpen: !active.isEmpty) {
                    Table("Faults", [.head("Fault"), "State", "Switch"], faults) { fault in
                        let isOn = fault.isOn(world) == true
                        return [.text(fault.title), isOn ? "on" : "off", flip(fault, isOn: isOn)]
                    }
                }
            }
        }
    }

    /// The pages that carry out the card's actions.
    var overviewPages: [ConsolePage] {
        let actions: [(path: String, carryOut: @Sendable () async throws -> String)] = [
            ("/overview/sign-in", world.newPersonSignsIn), ("/overview/link", world.linkWithGoogle),
            ("/overview/stop", world.personStopsUsingTheApp),
        ]
        return actions.map { path, carryOut in
            Self.action(path) { _ in .redirect(to: Self.overview, notice: try await carryOut()) }
        }
    }

    static let overview = "/overview"
}

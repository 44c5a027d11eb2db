import Console
import EmulatorServer
import Pages

extension WorldPages {
    var faultPages: [ConsolePage] {
        let path = Place.faults.rawValue
        return [
            ConsolePage(.get, path, access: .development, handle: faults),
            ConsolePage(.post, path, access: .development) { request in
                guard let name = request.form["fault"] else { return .refused("No fault is named.") }
                let isOn = request.form["on"] == "1"
                return try await Self.act(then: path) {
                    guard let fault = try await world.switchFault(named: name, isOn: isOn) else {
                        throw DevelopmentWorldError("There is no fault of this name.")
                    }
                    return isOn && fault.withheldKeysOf != nil ? fault.notice : nil
                }
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
        let isOn = world.isOn(fault)
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
                PostForm(
                    to: Place.keys.rawValue, request, look: "row",
                    [("then", Place.faults.rawValue), ("party", party.rawValue)]
                ) {
                    HTML.muted("siwa still has the keys in its cache.")
                    Self.button("Replace all keys", "danger", sends: ("change", "replace-all"))
                }
            }
            "</li>"
        }
    }
}

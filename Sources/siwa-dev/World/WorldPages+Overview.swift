import Console
import EmulatorServer
import Pages

extension WorldPages {
    /// The card of the overview: buttons for people, and the faults.
    func overviewCard(_ request: ConsoleRequest) -> HTML {
        func form(_ path: String, _ button: HTML, _ fields: [(name: String, value: String)] = []) -> HTML {
            PostForm(to: "/console\(path)", token: request.viewer.formToken, look: "inline") {
                for field in fields {
                    "<input type=\"hidden\" name=\"\(field.name)\" value=\"\(field.value)\">"
                }
                button
            }.html
        }
        func flip(_ fault: FaultSwitch, isOn: Bool) -> HTML {
            let (state, word) = isOn ? ("off", "Mend") : ("on", "Break")
            return form(
                "/overview/fault",
                "<button class=\"quiet\" aria-label=\"\(word): \(fault.title)\">\(word)</button>",
                [("name", fault.name), ("state", state)])
        }
        let faults = world.faults.map { (fault: $0, isOn: world.isOn($0)) }
        let active = faults.filter(\.isOn).map(\.fault)
        return HTML {
            "<section class=\"card\" aria-labelledby=\"world\">"
            "<h2 id=\"world\">Try it</h2>"
            "<div class=\"bar\">"
            form("/overview/sign-in", "<button>New person signs in</button>")
            form("/overview/link", "<button>Link with Google</button>")
            form("/overview/stop", "<button>Person stops using the app</button>")
            "</div>"
            if !active.isEmpty {
                "<h3>Faults that are on</h3>"
                "<ul class=\"switches\">"
                for fault in active {
                    "<li><span class=\"badge warn\">on</span> \(fault.title) \(flip(fault, isOn: true))"
                    // The service still has the keys of the party in its cache.
                    if let party = fault.withheldKeysOf {
                        let replace = form(
                            "/world/keys",
                            """
                            <button class="danger" name="change" value="replace-all">Replace all keys</button>
                            """, [("then", Self.overview), ("party", party.rawValue)])
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
            "<details\(active.isEmpty ? "" : " open" as HTML)><summary>Break something</summary>"
            Table("Faults", [.head("Fault"), "State", "Switch"], faults) { fault, isOn in
                [.text(fault.title), isOn ? "on" : "off", flip(fault, isOn: isOn)]
            }
            "</details>"
            "</section>"
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

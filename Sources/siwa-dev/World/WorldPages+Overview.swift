import Console
import EmulatorServer

extension WorldPages {
    /// The card of the overview: buttons for people, and the faults.
    var overviewCard: OverviewPages.Card {
        OverviewPages.Card(template: "world-overview") { [world] request in
            OverviewCardValues(request, world: world)
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

private struct OverviewCardValues: Sendable {
    struct Fault: Sendable {
        let name: String
        let title: String
        let state: String
        /// The state after the switch.
        let next: String
        let button: String
        /// The party whose keys the service still has in its cache while the fault is on.
        let cachedKeysOf: String?
    }

    let csrf: String
    let faults: [Fault]
    let activeFaults: [Fault]
    let hasActiveFaults: Bool

    init(_ request: ConsoleRequest, world: DevelopmentFakes) {
        csrf = request.viewer.formToken
        faults = world.faults.map { fault in
            let isOn = world.isOn(fault)
            let (state, next, button) = isOn ? ("on", "off", "Mend") : ("off", "on", "Break")
            return Fault(
                name: fault.name, title: fault.title, state: state, next: next, button: button,
                cachedKeysOf: isOn ? fault.withheldKeysOf?.rawValue : nil)
        }
        activeFaults = faults.filter { $0.state == "on" }
        hasActiveFaults = !activeFaults.isEmpty
    }
}

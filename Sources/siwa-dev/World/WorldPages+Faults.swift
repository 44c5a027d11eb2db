import Console
import EmulatorServer

extension WorldPages {
    var faultPages: [ConsolePage] {
        let path = WorldTabs.Place.faults.rawValue
        return [
            ConsolePage(.get, path, access: .development) { request in
                .template("world-faults", title: "Faults", values: FaultsValues(request, world: world))
            },
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
}

private struct FaultsValues: Sendable {
    struct Group: Sendable {
        let title: String
        let faults: [Fault]
    }

    struct Fault: Sendable {
        let name: String
        let title: String
        let isOn: Bool
        /// The party whose keys the service still has in its cache while the fault is on.
        let cachedKeysOf: String?
        let csrf: String
    }

    let tabs = WorldTabs(.faults)
    let groups: [Group]

    init(_ request: ConsoleRequest, world: DevelopmentFakes) {
        let all = world.faults
        groups = FaultSwitch.Group.allCases.compactMap { group in
            let faults = all.filter { $0.group == group }.map { fault in
                let isOn = world.isOn(fault)
                return Fault(
                    name: fault.name, title: fault.title, isOn: isOn,
                    cachedKeysOf: isOn ? fault.withheldKeysOf?.rawValue : nil, csrf: request.viewer.formToken)
            }
            return faults.isEmpty ? nil : Group(title: group.rawValue, faults: faults)
        }
    }
}

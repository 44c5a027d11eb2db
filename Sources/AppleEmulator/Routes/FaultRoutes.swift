import HTTPTypes
import Hummingbird
import StrictJSON

/// Sets, shows and removes the faults of endpoints.
struct FaultRoutes: Sendable {
    let state: EmulatorState

    func add(to group: RouterGroup<EmulatorRequestContext>) {
        group.control(.get, "faults") { call in list() }
        group.control(.put, "faults/:endpoint") { call in
            let endpoint = try endpoint(call)
            let fault = try call.input { input throws(EmulatorError) in try input.fault() }
            if endpoint != .keys, fault.body == .noKeys || fault.body == .unusableKeys {
                throw EmulatorError(
                    .memberMalformed, detail: "body: no_keys and unusable_keys are only for keys")
            }
            if endpoint == .notifications, fault.body != nil || fault.status != nil {
                throw EmulatorError(
                    .memberMalformed,
                    detail: "status, body: not for notifications, because the receiver answers them"
                )
            }
            state.setFault(fault, on: endpoint)
            return list()
        }
        group.control(.delete, "faults/:endpoint") { call in
            state.setFault(nil, on: try endpoint(call))
            return list()
        }
        group.control(.delete, "faults") { call in
            state.clearFaults()
            return list()
        }
    }

    private func endpoint(_ call: Call) throws(EmulatorError) -> EmulatedEndpoint {
        guard let endpoint = EmulatedEndpoint(rawValue: call.pathPart("endpoint")) else {
            let names = EmulatedEndpoint.allCases.map(\.rawValue).joined(separator: ", ")
            throw EmulatorError(.parameterMalformed, detail: "endpoint: one of \(names)")
        }
        return endpoint
    }

    private func list() -> ControlAnswer {
        let faults = state.faults
        var json = JSONObject()
        for endpoint in EmulatedEndpoint.allCases {
            json[endpoint.rawValue] = faults[endpoint].map { .object($0.json) }
        }
        let names = EmulatedEndpoint.allCases.filter { faults[$0] != nil }.map(\.rawValue)
        return ControlAnswer(json: json, text: names.isEmpty ? "none" : names.joined(separator: "\n"))
    }
}

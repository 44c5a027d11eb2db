import EmulatorServer
import HTTPTypes
import Hummingbird
import StrictJSON

/// Sets, shows and removes endpoint faults.
struct FaultRoutes: Sendable {
    let state: EmulatorState

    func add(to api: ControlAPI<EmulatorRequestContext>) {
        api.control(.get, "faults", "Shows the faults of Apple's endpoints.") { list() }
        api.control(
            .put, "faults/{endpoint}",
            "Makes an endpoint, or the delivery of notifications, fail until the fault is cleared.",
            example: ["status": 503, "times": 3]
        ) { input throws(EmulatorError) in
            (try Self.endpoint(&input), try input.fault())
        } use: { endpoint, fault in
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
        api.control(.delete, "faults/{endpoint}", "Clears the fault of an endpoint.") {
            input throws(EmulatorError) in
            try Self.endpoint(&input)
        } use: { endpoint in
            state.setFault(nil, on: endpoint)
            return list()
        }
        api.control(.delete, "faults", "Clears all faults.") {
            state.clearFaults()
            return list()
        }
    }

    private static func endpoint(_ input: inout ControlInput) throws(EmulatorError) -> EmulatedEndpoint {
        let name = input.path("endpoint", EmulatedEndpoint.self)
        guard let endpoint = EmulatedEndpoint(rawValue: name) else {
            let names = EmulatedEndpoint.allCases.map(\.rawValue).joined(separator: ", ")
            throw EmulatorError(.parameterMalformed, detail: "endpoint: one of \(names)")
        }
        return endpoint
    }

    private func list() -> ControlResponse {
        let faults = state.faults
        var json = JSONObject()
        for endpoint in EmulatedEndpoint.allCases {
            json[endpoint.rawValue] = faults[endpoint].map { .object($0.json) }
        }
        let names = EmulatedEndpoint.allCases.filter { faults[$0] != nil }.map(\.rawValue)
        return ControlResponse(json: json, text: names.isEmpty ? "none" : names.joined(separator: "\n"))
    }
}

extension EndpointFault {
    var json: JSONObject {
        var json = JSONObject()
        if delayMilliseconds > 0 { json["delay_ms"] = .integer(delayMilliseconds) }
        json["status"] = status.map { .integer(Int64($0)) }
        json["body"] = body.map { .string($0.rawValue) }
        json["cut"] = cut.map { .string($0.rawValue) }
        json["cache_control"] = cacheControl.map { .string($0) }
        if hidesEntityTag { json["etag"] = .bool(false) }
        json["work"] = doesWork.map { .bool($0) }
        json["times"] = remainingRequests.map { .integer(Int64($0)) }
        return json
    }
}

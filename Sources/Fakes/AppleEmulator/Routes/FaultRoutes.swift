import EmulatorServer
import HTTPTypes
import Hummingbird
import StrictJSON

/// Sets, shows and removes endpoint faults.
struct FaultRoutes: Sendable {
    let state: EmulatorState

    func add(to group: RouterGroup<EmulatorRequestContext>) {
        group.control(.get, "faults") { request in list() }
        group.control(.put, "faults/:endpoint") { request in
            let endpoint = try endpoint(request)
            let fault = try request.input { input throws(EmulatorError) in try input.fault() }
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
        group.control(.delete, "faults/:endpoint") { request in
            state.setFault(nil, on: try endpoint(request))
            return list()
        }
        group.control(.delete, "faults") { request in
            state.clearFaults()
            return list()
        }
    }

    private func endpoint(_ request: ControlRequest) throws(EmulatorError) -> EmulatedEndpoint {
        guard let endpoint = EmulatedEndpoint(rawValue: request.pathPart("endpoint")) else {
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

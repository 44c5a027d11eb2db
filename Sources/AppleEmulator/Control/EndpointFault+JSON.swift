import StrictJSON

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

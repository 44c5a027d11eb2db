import StrictJSON

extension Delivery {
    var json: JSONObject {
        var json = JSONObject([("url", .string(url))])
        switch outcome {
        case .answered(let status, let body):
            json["status"] = .integer(Int64(status))
            json["body"] = .string(body)
        case .failed(let failure): json["failure"] = .string(failure.rawValue)
        }
        return json
    }

    /// The status of the response, or the failure.
    var text: String {
        switch outcome {
        case .answered(let status, _): String(status)
        case .failed(let failure): failure.rawValue
        }
    }
}

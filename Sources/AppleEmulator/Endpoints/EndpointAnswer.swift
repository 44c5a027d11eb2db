import StrictJSON

/// The response of one of Apple's endpoints, before a fault changes it.
struct EndpointAnswer: Equatable {
    struct Header: Equatable {
        let name: String
        let value: String
    }

    static let jsonType = "application/json;charset=UTF-8"

    var status = 200
    var contentType: String?
    var headers: [Header] = []
    var body: [UInt8] = []

    static func json(_ object: JSONObject) -> EndpointAnswer {
        EndpointAnswer(
            contentType: jsonType, headers: [noStore], body: JSONValue.object(object).serialized())
    }

    static func refusal(_ refusal: OAuthRefusal) -> EndpointAnswer {
        var answer = json(
            JSONObject([
                ("error", .string(refusal.code.rawValue)), ("error_description", .string(refusal.cause)),
            ]))
        answer.status = refusal.code.status
        if let seconds = refusal.retryAfter {
            answer.headers.append(Header(name: "Retry-After", value: String(seconds)))
        }
        return answer
    }

    /// RFC 6749 §5.1: a response with a token must not be cached.
    static let noStore = Header(name: "Cache-Control", value: "no-store")
}

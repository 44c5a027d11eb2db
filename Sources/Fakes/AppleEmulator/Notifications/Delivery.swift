import StrictJSON

/// The result of posting a notification.
public struct Delivery: Sendable, Equatable {
    public enum Outcome: Sendable, Equatable {
        /// The receiver responded. The body is truncated to 16 KiB.
        case answered(status: Int, body: String)
        case failed(Failure)
    }

    public enum Failure: String, Sendable, CaseIterable {
        case connectionFailed = "connection_failed"
        case timedOut = "timed_out"
        /// The receiver closed the connection, or its response was not HTTP.
        case responseBroken = "answer_broken"
    }

    public let url: String
    public let outcome: Outcome
    /// `X-Request-ID` of the response, also when the response counts as lost.
    var requestID: String?

    /// True after status 200, the only status that Apple accepts.
    public var isTaken: Bool {
        if case .answered(200, _) = outcome { true } else { false }
    }
}

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

    /// The status of the response; `nil` when none arrived.
    var status: Int? {
        if case .answered(let status, _) = outcome { status } else { nil }
    }

    /// The response with its body, or the failure.
    var shown: String {
        if case .answered(let status, let body) = outcome { "\(status)\n\(body)" } else { text }
    }

    /// The status of the response, or the failure.
    var text: String {
        switch outcome {
        case .answered(let status, _): String(status)
        case .failed(let failure): failure.rawValue
        }
    }
}

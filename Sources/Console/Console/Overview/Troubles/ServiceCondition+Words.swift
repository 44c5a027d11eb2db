import AppleAccounts
import Encodings

extension ServiceCondition {
    static func requests(caller: String? = nil, code: String? = nil) -> Trouble.Page {
        let query = [("caller", caller), ("code", code)].compactMap { name, value in
            value.map { "\(name)=\(QueryText.encode($0))" }
        }.joined(separator: "&")
        return Trouble.Page(
            title: "Requests", path: "/console/requests" + (query.isEmpty ? "" : "?\(query)"))
    }

    static func percent(_ part: Int64, of whole: Int64) -> String {
        "\(whole > 0 ? part * 100 / whole : 0)%"
    }

    static func duration(_ seconds: Int64) -> String {
        switch seconds {
        case 172_800...: "\(whole(seconds, 86_400)) days"
        case 7200...: "\(whole(seconds, 3600)) hours"
        case 120...: "\(whole(seconds, 60)) minutes"
        default: "\(seconds) seconds"
        }
    }

    static func ago(_ moment: Moment, at now: Moment) -> String {
        let seconds = max(0, now.milliseconds - moment.milliseconds) / 1000
        return seconds < 5 ? "now" : "\(duration(seconds)) ago"
    }

    /// The nearest number of units. Does not overflow.
    private static func whole(_ seconds: Int64, _ unit: Int64) -> Int64 {
        seconds / unit + (seconds % unit >= unit / 2 ? 1 : 0)
    }

    static func time(_ milliseconds: Int64) -> String {
        String(RFC3339.text(milliseconds: milliseconds).dropFirst(11).prefix(5))
    }

    /// The time of day with seconds.
    static func clockTime(_ milliseconds: Int64) -> String {
        String(RFC3339.text(milliseconds: milliseconds).dropFirst(11).prefix(8))
    }

    static func date(_ milliseconds: Int64) -> String {
        let text = RFC3339.text(milliseconds: milliseconds)
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(5))"
    }
}

extension QueueCondition.Name {
    /// A noun in the plural, at the beginning of a sentence.
    var words: String {
        switch self {
        case .exchange: "Exchanges of codes at Apple"
        case .check: "Daily checks at Apple"
        case .erasure: "Erasures at Apple"
        case .receipt: "Exchanges of App Attest receipts"
        case .google: "Reports to Google"
        case .deliveries: "Events for receivers"
        }
    }

    /// False for deliveries, which have troubles of their own.
    var isAtApple: Bool {
        switch self {
        case .exchange, .check, .erasure, .receipt: true
        case .google, .deliveries: false
        }
    }
}

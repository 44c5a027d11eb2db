import Encodings

/// A value that a check has found, for people: a time of a token also as the distance from the request.
enum FoundValue {
    private static let times = ["exp", "iat", "nbf", "auth_time"]

    /// - Parameter now: Time of the request, in seconds since 1970.
    static func text(_ value: String, at now: Int64) -> String {
        let parts = value.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, times.contains(String(parts[0])), let seconds = Int64(parts[1]),
            // The years 1970 to 9999, so that nothing overflows.
            (0...253_402_300_799).contains(seconds), (0...253_402_300_799).contains(now)
        else { return value }
        var bytes: [UInt8] = []
        RFC3339.append(milliseconds: seconds * 1000, to: &bytes)
        let distance = seconds - now
        let words =
            distance == 0
            ? "the moment of the request"
            : "\(duration(abs(distance))) \(distance < 0 ? "before" : "after") the request"
        return "\(parts[0]) = \(String(decoding: bytes, as: UTF8.self)), \(words)"
    }

    private static func duration(_ seconds: Int64) -> String {
        switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7200: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3600) h"
        default: "\(seconds / 86_400) days"
        }
    }
}

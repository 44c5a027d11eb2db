import StrictJSON

/// A response of Apple as it was received. Its content has not been checked.
struct AppleResponse: Sendable, Equatable {
    let status: Int
    /// Empty for a 5xx, whose body is not read.
    let body: [UInt8]
    /// `Retry-After` in seconds, at most an hour. The form with a date is ignored.
    var retryAfter: Duration?

    /// Bound in bytes: far more than any response of Apple has.
    static let longestBody = 262_144

    static func retryAfter(_ header: String?) -> Duration? {
        guard let header, let seconds = Int64(header), seconds >= 0 else { return nil }
        return .seconds(min(seconds, 3600))
    }
}

extension AppleResponse {
    /// Returns the JSON body of a 200. Throws the matching error for any other response.
    func json() throws(AppleCallError) -> JSONValue {
        guard status == 200 else { throw failure() }
        do throws(JSONError) {
            return try JSONValue(parsing: body)
        } catch {
            // HTML, an empty or truncated body, or more than one JSON value.
            throw AppleCallError(.responseUnusable, detail: "no JSON: \(error.detail)")
        }
    }

    /// The error for a response with a status other than 200.
    func failure() -> AppleCallError {
        if status == 429 || (status == 503 && retryAfter != nil) {
            return AppleCallError(.throttled, retryAfter: retryAfter, detail: "status \(status)")
        }
        if status >= 500 {
            return AppleCallError(.serverFailed, retryAfter: retryAfter, detail: "status \(status)")
        }
        // Only an OAuth error comes from Apple's service (RFC 6749 §5.2). A 400 or 404 without one can come
        // from a proxy.
        guard (400..<500).contains(status), let document = try? JSONValue(parsing: body),
            let word = document["error"]?.string, !word.isEmpty
        else {
            return AppleCallError(.responseUnusable, detail: "status \(status)")
        }
        switch word {
        case "server_error", "temporarily_unavailable":
            return AppleCallError(.serverFailed, retryAfter: retryAfter, detail: "status \(status)")
        default:
            let description = document["error_description"]?.string ?? ""
            return AppleCallError(
                .rejected, appleError: AppleErrorCode(rawValue: word) ?? .other,
                detail: "status \(status) \(Self.shown(word)) \(Self.shown(description))")
        }
    }

    /// Shortens untrusted text, and replaces control characters for a terminal.
    private static func shown(_ text: String) -> String {
        String(text.unicodeScalars.prefix(200).map { (" "..."~").contains($0) ? Character($0) : "?" })
    }
}

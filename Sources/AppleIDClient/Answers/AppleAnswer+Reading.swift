import JOSE

extension AppleAnswer {
    /// The body of a 200 as JSON. Throws what the answer means when it is none.
    func json() throws(AppleCallError) -> JSONValue {
        guard status == 200 else { throw failure() }
        do throws(JOSEError) {
            return try JSONValue(parsing: body)
        } catch {
            // HTML, empty, half, or two answers in one.
            throw AppleCallError(.answerUnusable, detail: "no JSON: \(error.detail)")
        }
    }

    /// What an answer with any other status than 200 says.
    func failure() -> AppleCallError {
        if status == 429 || (status == 503 && retryAfter != nil) {
            return AppleCallError(.throttled, retryAfter: retryAfter, detail: "status \(status)")
        }
        if status >= 500 {
            return AppleCallError(.serverFailed, retryAfter: retryAfter, detail: "status \(status)")
        }
        // Only an OAuth error is Apple's own refusal (RFC 6749 §5.2). A proxy's 400 or 404 proves nothing.
        guard (400..<500).contains(status), let document = try? JSONValue(parsing: body),
            let word = document["error"]?.string, !word.isEmpty
        else {
            return AppleCallError(.answerUnusable, detail: "status \(status)")
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

    /// Untrusted text: a line of what cannot steer a terminal.
    private static func shown(_ text: String) -> String {
        String(text.unicodeScalars.prefix(200).map { (" "..."~").contains($0) ? Character($0) : "?" })
    }
}

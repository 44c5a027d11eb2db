import AppleIdentity
import Encodings
import StrictJSON

/// What a token says, true or not: for people who look for what is wrong with it. Nothing is decided by it.
struct TokenContent {
    /// `nil` when it cannot be read.
    let header: JSONObject?
    let claims: JSONObject?

    init(_ compact: String) {
        guard compact.utf8.count <= UnverifiedToken.longestToken else {
            (header, claims) = (nil, nil)
            return
        }
        let segments = compact.split(separator: ".", omittingEmptySubsequences: false)
        let objects = segments.prefix(2).map { segment -> JSONObject? in
            guard let bytes = Base64URL.decode(String(segment)) else { return nil }
            return (try? JSONValue(parsing: bytes))?.object
        }
        header = objects.first ?? nil
        claims = objects.count > 1 ? objects[1] : nil
    }

    /// A claim as it stands in the token, for a person; "none" when there is none.
    func text(_ claim: String) -> String {
        claims?[claim].map { Self.text($0, of: claim) } ?? "none"
    }

    /// Times are shown as dates too.
    static func text(_ value: JSONValue, of claim: String) -> String {
        let text = value.string.map(shown) ?? shown(String(decoding: value.serialized(), as: UTF8.self))
        guard times.contains(claim), let seconds = value.integer,
            let date = NumericDate(secondsSince1970: seconds)
        else { return text }
        return "\(text) (\(date.text))"
    }

    /// Untrusted text for a terminal: only what cannot steer one.
    static func shown(_ text: String) -> String {
        String(text.unicodeScalars.map { (" "..."~").contains($0) ? Character($0) : "?" })
    }

    private static let times: Set<String> = ["exp", "iat", "nbf", "auth_time"]
}

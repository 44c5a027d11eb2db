import AppleAccounts
package import AppleIdentity
import Encodings
package import StrictJSON

/// The unverified content of a token, for display only.
package struct TokenContent {
    /// The header; `nil` if it is unreadable.
    package let header: JSONObject?
    package let claims: JSONObject?
    /// The current time, as the reference for relative times such as "3 days ago".
    package let now: NumericDate
    /// True if users' names and addresses are masked.
    let masksPersons: Bool

    package init(_ compact: String, at now: NumericDate, masksPersons: Bool = false) {
        (self.now, self.masksPersons) = (now, masksPersons)
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

    /// Returns a claim's text; "none" if the claim is absent.
    package func text(_ claim: String) -> String {
        claims?[claim].map { text($0, of: claim) } ?? "none"
    }

    /// Returns the text of a value. If the value is a time, the text includes the date.
    package func text(_ value: JSONValue, of claim: String) -> String {
        let value = masksPersons ? PersonMask.masked(value, of: claim) : value
        let text =
            value.string.map(Self.shown) ?? Self.shown(String(decoding: value.serialized(), as: UTF8.self))
        guard Self.times.contains(claim), let seconds = value.integer,
            let date = NumericDate(secondsSince1970: seconds)
        else { return text }
        return "\(text) (\(date.text), \(date.distance(from: now)))"
    }

    /// Replaces control characters in untrusted text, because they could control the terminal.
    package static func shown(_ text: String) -> String {
        // The ellipsis occurs in masked names and addresses.
        String(text.unicodeScalars.map { (" "..."~").contains($0) || $0 == "…" ? Character($0) : "?" })
    }

    private static let times: Set<String> = ["exp", "iat", "nbf", "auth_time"]
}

extension NumericDate {
    /// The time in RFC 3339 format, in UTC.
    var text: String { Moment(seconds: secondsSince1970).rfc3339 }

    /// Returns the time relative to `now` in the largest suitable unit: `3 days ago`, `in 5 minutes`.
    package func distance(from now: NumericDate) -> String {
        let seconds = secondsSince1970 - now.secondsSince1970
        guard seconds != 0 else { return "now" }
        let units: [(name: String, seconds: Int64)] = [("day", 86_400), ("hour", 3600), ("minute", 60)]
        let unit = units.first { seconds.magnitude >= UInt64($0.seconds) } ?? ("second", 1)
        let count = Int64(seconds.magnitude) / unit.seconds
        let words = "\(count) \(unit.name)\(count == 1 ? "" : "s")"
        return seconds < 0 ? "\(words) ago" : "in \(words)"
    }

    /// Returns the time shifted by a number of seconds, clamped to the supported range.
    func advanced(bySeconds seconds: Int64) -> NumericDate {
        NumericDate(clampingSecondsSince1970: secondsSince1970 + seconds)
    }
}

/// Masks users' names and addresses in a token's claims at any depth, including JSON inside strings. All
/// pages that show claims use this type.
package enum PersonMask {
    private static let names: Set<String> = [
        "name", "given_name", "family_name", "middle_name", "nickname", "preferred_username", "firstName",
        "lastName", "picture",
    ]

    /// Returns `true` if the claim contains an address. `is_private_email` does not, because it is a boolean.
    private static func isAddress(_ claim: String) -> Bool {
        claim == "phone_number" || (claim.hasSuffix("email") && !claim.hasPrefix("is_"))
    }

    /// Returns the claim with masked user data, for display.
    package static func masked(_ value: JSONValue, of claim: String) -> JSONValue {
        masked(value, of: claim, hiding: [])
    }

    /// Returns the value with masked user data, for storage in memory.
    ///
    /// - Parameter claims: Names of additional claims whose entire values are hidden.
    package static func masked(_ value: JSONValue, hiding claims: Set<String>) -> JSONValue {
        switch value {
        case .object(let object):
            .object(
                JSONObject(object.members.map { ($0.name, masked($0.value, of: $0.name, hiding: claims)) }))
        case .array(let values): .array(values.map { masked($0, hiding: claims) })
        case .string(let text): .string(inner(text, hiding: claims) ?? text)
        case .null, .bool, .integer, .number: value
        }
    }

    private static func masked(
        _ value: JSONValue, of claim: String, hiding claims: Set<String>
    ) -> JSONValue {
        if claims.contains(claim) { return .string("…") }
        if isAddress(claim) { return hidden(value, address) }
        if names.contains(claim) { return hidden(value, name) }
        return masked(value, hiding: claims)
    }

    /// Masks JSON inside a string, because Apple sends a notification's events as a string. Returns `nil` for
    /// a string without claims.
    ///
    /// The recursion is bounded by the token's size, because each nested level at least doubles the number of
    /// escapes.
    private static func inner(_ text: String, hiding claims: Set<String>) -> String? {
        do throws(JSONError) {
            let value = try JSONValue(parsing: Array(text.utf8))
            switch value {
            case .object, .array, .string:
                return String(decoding: masked(value, hiding: claims).serialized(), as: UTF8.self)
            case .null, .bool, .integer, .number: return nil
            }
        } catch {
            // Even malformed JSON, such as an object with a repeated member, can contain addresses.
            let first = text.unicodeScalars.first { !$0.properties.isWhitespace && $0 != "\u{FEFF}" }
            return first.map { "{[\"".unicodeScalars.contains($0) } ?? false ? "…" : nil
        }
    }

    /// Hides the value, even if it is not a string.
    private static func hidden(_ value: JSONValue, _ mask: (String) -> String) -> JSONValue {
        .string(value.string.map(mask) ?? "…")
    }

    /// Masks an address: `ann@privaterelay.appleid.com` becomes `a…@p…`.
    package static func address(_ text: String) -> String {
        guard let at = text.lastIndex(of: "@") else { return name(text) }
        return "\(name(String(text[..<at])))@\(name(String(text[text.index(after: at)...])))"
    }

    private static func name(_ text: String) -> String { text.first.map { "\($0)…" } ?? "" }
}

package import StrictJSON

/// Masks names and addresses of users in the claims of a token, at any depth, also in JSON that a claim has as a
/// text. Every page that shows claims uses it.
package enum PersonMask {
    private static let names: Set<String> = [
        "name", "given_name", "family_name", "middle_name", "nickname", "preferred_username", "firstName",
        "lastName", "picture",
    ]

    /// Indicates that the value of a claim is an address. `is_private_email` is a boolean.
    private static func isAddress(_ claim: String) -> Bool {
        claim == "phone_number" || (claim.hasSuffix("email") && !claim.hasPrefix("is_"))
    }

    /// Returns the claim as it may be shown.
    package static func masked(_ value: JSONValue, of claim: String) -> JSONValue {
        masked(value, of: claim, hiding: [])
    }

    /// Returns a value as it may be kept.
    ///
    /// - Parameter claims: Names of further claims that are hidden as a whole.
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

    /// Apple writes the events of a notification as a string with JSON. Returns `nil` for a text without claims.
    ///
    /// Each level of texts in texts at least doubles the escapes, so the size of a token bounds the recursion.
    private static func inner(_ text: String, hiding claims: Set<String>) -> String? {
        do throws(JSONError) {
            let value = try JSONValue(parsing: Array(text.utf8))
            switch value {
            case .object, .array, .string:
                return String(decoding: masked(value, hiding: claims).serialized(), as: UTF8.self)
            case .null, .bool, .integer, .number: return nil
            }
        } catch {
            // JSON that is refused, such as an object with a member twice, can have addresses too.
            let first = text.unicodeScalars.first { !$0.properties.isWhitespace && $0 != "\u{FEFF}" }
            return first.map { "{[\"".unicodeScalars.contains($0) } ?? false ? "…" : nil
        }
    }

    /// A value of another type than a text is hidden too.
    private static func hidden(_ value: JSONValue, _ mask: (String) -> String) -> JSONValue {
        .string(value.string.map(mask) ?? "…")
    }

    /// `a…@p…` of `ann@privaterelay.appleid.com`.
    package static func address(_ text: String) -> String {
        guard let at = text.lastIndex(of: "@") else { return name(text) }
        return "\(name(String(text[..<at])))@\(name(String(text[text.index(after: at)...])))"
    }

    private static func name(_ text: String) -> String { text.first.map { "\($0)…" } ?? "" }
}

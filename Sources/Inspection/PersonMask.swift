package import StrictJSON

/// Masks names and addresses of users in the claims of a token, at any depth.
package enum PersonMask {
    private static let addresses: Set<String> = ["email", "phone_number"]
    private static let names: Set<String> = [
        "name", "given_name", "family_name", "middle_name", "nickname", "preferred_username", "firstName",
        "lastName", "picture",
    ]

    /// Returns the claim as it may be shown.
    package static func masked(_ value: JSONValue, of claim: String) -> JSONValue {
        if addresses.contains(claim) { return hidden(value, address) }
        if names.contains(claim) { return hidden(value, name) }
        return masked(value)
    }

    private static func masked(_ value: JSONValue) -> JSONValue {
        switch value {
        case .object(let object):
            .object(JSONObject(object.members.map { ($0.name, masked($0.value, of: $0.name)) }))
        case .array(let values): .array(values.map(masked))
        case .string(let text): .string(inner(text) ?? text)
        case .null, .bool, .integer, .number: value
        }
    }

    /// Apple writes the events of a notification as a string with JSON.
    private static func inner(_ text: String) -> String? {
        guard text.first == "{" || text.first == "[", let value = try? JSONValue(parsing: Array(text.utf8))
        else { return nil }
        return String(decoding: masked(value).serialized(), as: UTF8.self)
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

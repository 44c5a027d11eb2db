import Encodings
import JOSE
import StrictJSON

/// Formats requests and responses for display on pages, with shortened secrets.
package enum ShownText {
    private static let secretNames: Set = [
        "client_secret", "code", "access_token", "refresh_token", "id_token", "assertion", "code_verifier",
        "token", "identity_token", "authorization_code", "payload",
    ]

    /// Returns the first characters of a secret: enough to tell secrets apart.
    package static func shortened(_ secret: String) -> String {
        secret.count > 24 ? "\(secret.prefix(12))… (\(secret.utf8.count) bytes)" : "\(secret.prefix(4))…"
    }

    package static func fields(_ fields: [(name: String, value: String)]) -> String {
        fields.map { field in
            guard secretNames.contains(field.name) else { return "\(field.name) = \(field.value)" }
            let shown = "\(field.name) = \(shortened(field.value))"
            // A token's claims explain the response, so they are shown too.
            return token(field.value).map { "\(shown)\n\($0)" } ?? shown
        }.joined(separator: "\n")
    }

    /// Returns a URL followed by its query, one parameter per line.
    package static func url(_ url: String) -> String {
        guard let mark = url.firstIndex(of: "?"),
            let query = FormEncoding.decode(url[url.index(after: mark)...].utf8)
        else { return url }
        return "\(url[..<mark])\n\(fields(query))"
    }

    /// Returns JSON with its secrets shortened and the content of its tokens below it; for a token, the token
    /// with its content; and any other text unchanged.
    package static func body(_ body: [UInt8]) -> String {
        if let json = try? JSONValue(parsing: body, limits: JSONLimits(depth: 16, members: 256)) {
            let tokens = json.object?.members.compactMap { member -> String? in
                guard secretNames.contains(member.name), let content = member.value.string.flatMap(token)
                else { return nil }
                return "\n\nThe \(member.name) is signed, not encrypted, and says:\n\(content)"
            }
            return hidden(json, name: "").indented() + (tokens ?? []).joined()
        }
        let text = String(decoding: body.prefix(ExchangeLog.longestText), as: UTF8.self)
        return token(text) ?? text
    }

    /// Returns the header and the claims of a compact JWS; `nil` for any other text.
    package static func token(_ compact: String) -> String? {
        guard let segments = JWSSegments(compact: compact),
            let header = try? JSONValue(parsing: segments.header),
            let claims = try? JSONValue(parsing: segments.payload, limits: JSONLimits(depth: 16))
        else { return nil }
        return "\(header.indented())\n\(hidden(claims, name: "").indented())"
    }

    private static func hidden(_ value: JSONValue, name: String) -> JSONValue {
        switch value {
        // The `code` of a problem document (RFC 9457) is an error name, not a secret.
        case .string(let text) where name == "code" && isErrorName(text): return value
        case .string(let text) where secretNames.contains(name): return .string(shortened(text))
        case .string(let text) where name == "redirect_to": return .string(hiddenCode(in: text))
        case .array(let elements): return .array(elements.map { hidden($0, name: name) })
        case .object(let object):
            return .object(JSONObject(object.members.map { ($0.name, hidden($0.value, name: $0.name)) }))
        case .string, .null, .bool, .integer, .number: return value
        }
    }

    /// Returns true for lower-case words. Authorization codes also contain digits and capital letters.
    private static func isErrorName(_ text: String) -> Bool {
        text.utf8.count <= 64
            && text.utf8.allSatisfy {
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || $0 == UInt8(ascii: "_")
            }
    }

    /// Returns the URL with the authorization code in it shortened.
    private static func hiddenCode(in url: String) -> String {
        guard let mark = url.firstIndex(of: "?") else { return url }
        let parameters = url[url.index(after: mark)...].split(separator: "&").map { parameter in
            parameter.hasPrefix("code=")
                ? "code=\(shortened(String(parameter.dropFirst(5))))" : String(parameter)
        }
        return "\(url[..<mark])?\(parameters.joined(separator: "&"))"
    }
}

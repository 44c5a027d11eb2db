import Encodings
import Inspection
import StrictJSON

/// The claims of a token of others, with names and addresses masked unless they are invented.
struct MaskedClaims: Sendable {
    struct Member: Sendable {
        let name: String
        let text: String
    }

    let members: [Member]
    /// The types of its events; empty where they cannot be read.
    let types: [String]

    /// - Parameters:
    ///   - token: In its compact form. Another text has no claims.
    ///   - isShown: True in `siwa dev`, whose people are invented.
    init(token: String, isShown: Bool) {
        let segments = token.split(separator: ".", omittingEmptySubsequences: false)
        self.init(
            claims: segments.count == 3 ? Base64URL.decode(String(segments[1])) ?? [] : [],
            isShown: isShown)
    }

    /// - Parameter bytes: A JSON object.
    init(claims bytes: [UInt8], isShown: Bool) {
        let claims = (try? JSONValue(parsing: bytes))?.object ?? JSONObject()
        members = claims.members.map { name, value in
            let masked = isShown ? value : PersonMask.masked(value, of: name)
            let text = masked.string ?? String(decoding: masked.serialized(), as: UTF8.self)
            return Member(name: TokenContent.shown(name), text: TokenContent.shown(text))
        }
        types = Self.types(claims["events"]).prefix(16).map(TokenContent.shown)
    }

    /// Apple's events are an object with a type or an array of such, in a string or not; Google's are an object by
    /// URI.
    private static func types(_ events: JSONValue?) -> [String] {
        guard let events else { return [] }
        let inner = events.string.map { try? JSONValue(parsing: Array($0.utf8)) } ?? events
        guard let inner else { return [] }
        if inner.array != nil || events.string != nil || inner["type"]?.string != nil {
            return (inner.array ?? [inner]).compactMap { $0["type"]?.string }
        }
        return (inner.object?.members ?? []).map { name, _ in
            name.split(separator: "/").last.map { String($0) } ?? name
        }
    }
}

import AppleIdentity
import HTTPAPI
import Inspection
import StrictJSON

/// The token in a text that was copied together with what stood around it.
enum TokenText {
    /// Members of the bodies in which tokens and codes are sent, and returned.
    private static let members = [
        "payload", "identity_token", "id_token", "refresh_token", "access_token", "token", "code",
        "authorization_code", "device_code", "attestation", "assertion", "SET",
    ]

    /// The token that a request of development carried: in its JSON or its form, or as the whole body. `nil` without one,
    /// and outside of development, where no body is kept.
    static func carried(by exchange: KeptExchange?) -> String? {
        guard let exchange, !exchange.isBodyCut else { return nil }
        let text = String(decoding: exchange.body, as: UTF8.self)
        let fields: (String) -> String?
        if let object = (try? JSONValue(parsing: exchange.body))?.object {
            fields = { object[$0]?.string }
        } else if text.contains("="), let form = ConsoleFields.decode(exchange.body) {
            fields = { form[$0] }
        } else {
            fields = { $0 == "SET" && TokenContent(text, at: .beginning).claims != nil ? text : nil }
        }
        return (members + ["subject_token"]).lazy.compactMap(fields).first { !$0.isEmpty }
    }

    /// The `sub` of a token that was not verified.
    static func subject(of token: String) -> String? {
        TokenContent(token, at: .beginning).claims?["sub"]?.string
    }

    /// Returns the token of a field `Authorization`, of a JSON object with one such member, or of a quoted text.
    /// Returns any other text as it is.
    static func unwrapped(_ text: String) -> String {
        if let json = try? JSONValue(parsing: Array(text.utf8)) {
            if let text = json.string { return text }
            let tokens = members.compactMap { json.object?[$0]?.string }
            return tokens.count == 1 ? tokens[0] : text
        }
        var rest = text[...]
        for word in ["authorization:", "bearer", "dpop"] {
            guard rest.lowercased().hasPrefix(word) else { continue }
            let after = rest.dropFirst(word.count)
            // A token can begin with the word itself.
            guard word.hasSuffix(":") || after.first?.isWhitespace == true else { continue }
            rest = after.drop(while: \.isWhitespace)
        }
        return String(rest)
    }
}

extension NumericDate {
    /// For a content whose times are not shown.
    fileprivate static let beginning = NumericDate(clampingSecondsSince1970: 0)
}

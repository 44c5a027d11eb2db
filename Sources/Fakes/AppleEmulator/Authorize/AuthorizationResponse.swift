import EmulatorServer
import Encodings

/// The response that the browser carries to the redirect URI (RFC 6749 §4.1.2).
struct AuthorizationResponse: Equatable {
    let redirectURI: String
    let mode: ResponseMode
    let fields: [Field]

    struct Field: Equatable {
        let name: String
        let value: String
    }

    init(to request: AuthorizationRequest, _ fields: [(String, String?)]) {
        (redirectURI, mode) = (request.redirectURI, request.responseMode)
        self.fields = (fields + [("state", request.state)]).compactMap { name, value in
            value.map { Field(name: name, value: $0) }
        }
    }

    /// The redirect URI with the fields in its query or its fragment.
    var location: String {
        let text = fields.map { "\($0.name)=\(Self.escape($0.value))" }.joined(separator: "&")
        let separator = mode == .fragment ? "#" : redirectURI.contains("?") ? "&" : "?"
        return redirectURI + separator + text
    }

    static func escape(_ text: String) -> String {
        text.utf8.map { byte in
            ControlInput.isUnreserved(byte)
                ? String(UnicodeScalar(byte)) : "%" + Hexadecimal.encode([byte]).uppercased()
        }.joined()
    }
}

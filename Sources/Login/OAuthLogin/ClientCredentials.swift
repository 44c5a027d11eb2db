import Encodings

/// The client, and the secret with which it authenticates to the server.
package struct ClientCredentials: Sendable {
    let id: String
    /// Secret of Google's desktop clients. In a program on a user's machine it protects nothing.
    let secret: String?

    /// Throws `.optionMalformed` unless both are visible ASCII of at most 1024 characters (RFC 6749 §A.1,
    /// §A.2).
    package init(id: String, secret: String? = nil) throws(LoginError) {
        guard Self.isWord(id) else {
            throw LoginError(.optionMalformed, "--client-id must be 1 to 1024 visible ASCII characters")
        }
        if let secret, !Self.isWord(secret) {
            throw LoginError(
                .optionMalformed,
                "--client-secret-file must have the secret alone, 1 to 1024 visible ASCII characters")
        }
        (self.id, self.secret) = (id, secret)
    }

    /// Adds the client to a request. The secret is sent in the body if the server allows it, as Google's
    /// clients do, otherwise in the header (RFC 6749 §2.3.1); never in both.
    func authenticate(_ fields: [(name: String, value: String)], at url: String, of server: ServerMetadata)
        -> FormRequest
    {
        guard let secret else {
            return FormRequest(url: url, fields: fields + [("client_id", id)])
        }
        // Without a list, the header is the default (RFC 8414 §2).
        guard server.authenticationMethods?.contains("client_secret_post") == true else {
            let pair = "\(FormEncoding.escape(id)):\(FormEncoding.escape(secret))"
            return FormRequest(
                url: url, fields: fields, authorization: "Basic \(Base64.encode(Array(pair.utf8)))")
        }
        return FormRequest(url: url, fields: fields + [("client_id", id), ("client_secret", secret)])
    }

    private static func isWord(_ text: String) -> Bool {
        (1...1024).contains(text.utf8.count)
            && text.utf8.allSatisfy { (UInt8(ascii: "!")...UInt8(ascii: "~")).contains($0) }
    }
}

extension ClientCredentials: CustomStringConvertible, CustomReflectable {
    package var description: String { "client \(id)" }
    /// `dump` and string interpolation of types that contain a secret use this.
    package var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}

/// A form to post to an endpoint of the server.
struct FormRequest {
    let url: String
    let fields: [(name: String, value: String)]
    var authorization: String?

    var body: String { FormEncoding.encode(fields) }
}

import Encodings

/// The requested scope of a sign-in (RFC 6749 §3.3). Without a scope, the server decides.
package struct RequestedScope: Sendable, Equatable {
    /// Space-separated names; `nil` without a requested scope.
    let text: String?

    /// - Parameter options: Values of `--scope`, each with a name or several. Throws `.optionMalformed`.
    package init(_ options: [String]) throws(LoginError) {
        let words = options.flatMap { $0.split(separator: " ") }
        for word in words {
            let isScope = word.utf8.allSatisfy { byte in
                (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
            }
            guard isScope else {
                throw LoginError(
                    .optionMalformed,
                    "--scope must have ASCII characters other than quotation mark and backslash"
                )
            }
        }
        let text = words.joined(separator: " ")
        guard text.utf8.count <= 2048 else {
            throw LoginError(.optionMalformed, "--scope must have at most 2048 characters")
        }
        self.text = text.isEmpty ? nil : text
    }

    /// True if the response must contain an ID token.
    var hasOpenID: Bool { text?.split(separator: " ").contains("openid") ?? false }
    /// True if the response may contain an ID token: also when the server decides about the scope.
    var mayHaveOpenID: Bool { text == nil || hasOpenID }
}

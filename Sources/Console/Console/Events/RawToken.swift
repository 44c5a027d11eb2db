import Encodings

/// A signed token as it came, for `siwa dev` alone: it can be sent again, and nothing in it is masked.
struct RawToken: Sendable {
    let token: String
    /// As their bytes are, not written anew.
    let header: String
    let payload: String

    /// Returns `nil` for a text that is no token in compact form.
    init?(_ token: String) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Base64URL.decode(String(parts[0])),
            let payload = Base64URL.decode(String(parts[1]))
        else { return nil }
        self.token = token
        self.header = String(decoding: header, as: UTF8.self)
        self.payload = String(decoding: payload, as: UTF8.self)
    }
}

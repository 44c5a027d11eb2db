import AppleAccounts

/// One request, read completely and allowed in: what a route sees.
struct HTTPRequest: Sendable {
    let requestID: String
    /// The decoded last segment of the path, in routes that have one.
    let parameter: String?
    let query: Substring?
    let body: [UInt8]
    let ifNoneMatch: String?
    /// The whole field, as the browser sent it.
    let cookie: String?
    /// The apps that the caller may see.
    let scope: AppScope
}

/// The `Cookie` field of a request (RFC 6265 §4.2).
enum CookieField {
    /// The value of the first cookie of this name. Of several, the first is the one with the closest path.
    static func value(of name: String, in field: String?) -> String? {
        guard let field else { return nil }
        for pair in field.split(separator: ";") {
            let pair = pair.drop { $0 == " " || $0 == "\t" }
            guard let mark = pair.firstIndex(of: "="), pair[..<mark].utf8.elementsEqual(name.utf8) else {
                continue
            }
            return String(pair[pair.index(after: mark)...])
        }
        return nil
    }
}

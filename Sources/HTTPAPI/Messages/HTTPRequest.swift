import AppleAccounts

/// One request as a route sees it: complete, and its caller authenticated.
struct HTTPRequest: Sendable {
    let requestID: String
    /// The last segment of the path, decoded, in routes that have a parameter.
    let parameter: String?
    let query: Substring?
    let body: [UInt8]
    let ifNoneMatch: String?
    /// The whole field as the browser sent it.
    let cookie: String?
    /// The apps that the caller may see.
    let scope: AppScope
}

/// The `Cookie` field of a request (RFC 6265 §4.2).
enum CookieField {
    /// The value of the first cookie with this name. Browsers send the one with the closest path first.
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

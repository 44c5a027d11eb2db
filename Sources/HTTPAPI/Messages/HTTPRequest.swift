import AppleAccounts
import Encodings
import NIOHTTP1
import OAuth

/// One request as a route sees it: complete, and its caller authenticated.
struct HTTPRequest: Sendable {
    let requestID: String
    /// The segment of the path that is a value, decoded, in routes that have a parameter.
    let parameter: String?
    /// The second one, in routes that have two.
    var secondParameter: String?
    let query: Substring?
    let body: [UInt8]
    let ifNoneMatch: String?
    /// The whole field as the browser sent it.
    let cookie: String?
    /// The apps that the caller may see.
    let scope: AppScope
    /// Only in routes of OAuth.
    var oauth: OAuthFields?
    /// Only in routes that read them.
    var browser: BrowserFields?
    /// Only in routes of OAuth.
    var client: ObservedClient?
}

/// What only the routes of OAuth use of a request. A class, so that the other requests carry a reference of
/// eight bytes.
final class OAuthFields: Sendable {
    let authorization: String?
    let contentType: String?
    /// `nil` when it is not known: a trusted proxy has not said it.
    let address: RequesterAddress?

    init(authorization: String?, contentType: String?, address: RequesterAddress?) {
        (self.authorization, self.contentType, self.address) = (authorization, contentType, address)
    }
}

/// What a browser says of itself and of its form. A class for the same reason.
final class BrowserFields: Sendable {
    let userAgent: String?
    let acceptLanguage: String?
    /// Whether the body is an HTML form.
    let sendsForm: Bool
    /// Browsers name the origin of a page that posts (Fetch §3.2).
    let comesFromPage: Bool

    init(_ headers: HTTPHeaders, sendsForm: Bool) {
        comesFromPage = headers.contains(name: "origin")
        userAgent = headers.first(name: "user-agent")
        acceptLanguage = headers.first(name: "accept-language")
        self.sendsForm = sendsForm
    }
}

/// The `Cookie` field of a request (RFC 6265 §4.2).
enum CookieField {
    /// The value of the first cookie with this name. Browsers send the one with the closest path first.
    static func value(of name: String, in field: String?) -> String? {
        guard var field else { return nil }
        var name = name
        // By bytes, eight at a time: sealed cookies are long.
        return field.withUTF8 { field in
            name.withUTF8 { name in
                var next = 0
                while next < field.count {
                    var start = next
                    let end =
                        WordScan.firstOffset(
                            of: UInt8(ascii: ";"), in: UnsafeRawBufferPointer(field), from: start)
                        ?? field.count
                    next = end + 1
                    while start < end, field[start] == UInt8(ascii: " ") || field[start] == UInt8(ascii: "\t")
                    {
                        start += 1
                    }
                    let mark = start + name.count
                    if mark < end, field[mark] == UInt8(ascii: "="), field[start..<mark].elementsEqual(name) {
                        return String(decoding: field[(mark + 1)..<end], as: UTF8.self)
                    }
                }
                return nil
            }
        }
    }
}

import AppleAccounts
import Encodings
import HTTPEngine
import NIOHTTP1
import OAuth

/// A complete request for a route, from an authenticated caller.
struct HTTPRequest: Sendable {
    let requestID: String
    /// The value in the path, decoded, for routes with a path parameter.
    let parameter: String?
    /// The second value in the path, decoded, for routes with two path parameters.
    var secondParameter: String?
    let query: Substring?
    let body: [UInt8]
    let ifNoneMatch: String?
    /// The whole `Cookie` header as the browser sent it.
    let cookie: String?
    /// The apps that the caller has access to.
    let scope: AppScope
    /// The name of the caller's API key; `nil` for a call without a key, and in development without keys.
    var caller: String?
    /// OAuth headers. Set only for OAuth routes.
    var oauth: OAuthFields?
    /// Browser headers. Set only for routes that read them.
    var browser: BrowserFields?
    /// Records the OAuth client for the log. Set only for OAuth routes.
    var client: ObservedClient?
    /// The request's position in its trace; `nil` if the request is not traced.
    var trace: RequestTrace?
}

/// Header fields that only OAuth routes use. The type is a class, so that other requests store only a
/// reference.
final class OAuthFields: Sendable {
    let authorization: String?
    let contentType: String?
    /// The client's address; `nil` if it is unknown, because a trusted proxy has not named it.
    let address: RequesterAddress?
    let userAgent: String?

    init(authorization: String?, contentType: String?, address: RequesterAddress?, userAgent: String?) {
        (self.authorization, self.contentType, self.address) = (authorization, contentType, address)
        self.userAgent = userAgent
    }
}

/// Header fields that describe a browser and its form. The type is a class, so that other requests store only
/// a reference.
final class BrowserFields: Sendable {
    let userAgent: String?
    let acceptLanguage: String?
    /// True if the body is an HTML form.
    let sendsForm: Bool
    /// True if a page posted the request. Browsers then name the page's origin (Fetch §3.2).
    let comesFromPage: Bool
    let sender: RequestSender
    /// The client's address; `nil` if it is unknown, because a trusted proxy has not named it.
    let address: RequesterAddress?

    init(_ headers: HTTPHeaders, sendsForm: Bool, address: RequesterAddress?) {
        self.address = address
        comesFromPage = headers.contains(name: "origin")
        sender = RequestSender(headers)
        userAgent = headers.first(name: "user-agent")
        acceptLanguage = headers.first(name: "accept-language")
        self.sendsForm = sendsForm
    }
}

/// The query of a request. It may contain only the parameters that the call declares.
///
/// An unknown or repeated name is an error: a misspelled `after`, if ignored, would return the whole feed.
struct Query: Sendable {
    private static let mostPairs = 64

    private let values: [(name: String, value: String)]

    /// Reads a request's query, with the parameters that the call declares. Throws the same errors as the
    /// other initializer.
    init(_ request: HTTPRequest, of endpoint: Endpoint) throws(Problem) {
        try self.init(parsing: request.query, allowing: endpoint.queryNames)
    }

    /// Reads a query. Throws `parameter_unknown`, `parameter_malformed` or `character_not_allowed`.
    init(parsing query: Substring?, allowing names: [String]) throws(Problem) {
        var values: [(name: String, value: String)] = []
        var (rest, pairs) = (query, 0)
        while let text = rest {
            let pair: Substring
            (pair, rest) = text.cut(at: UInt8(ascii: "&"))
            pairs += 1
            // Counts empty pairs too, because a query can be as long as a header.
            guard pairs <= Self.mostPairs else { throw Problem(.parameterUnknown) }
            guard !pair.isEmpty else { continue }
            let (spelling, encoded) = pair.cut(at: UInt8(ascii: "="))
            guard let name = names.first(where: { spelling.isByteEqual(to: $0) }),
                !values.contains(where: { $0.name == name })
            else { throw Problem.unknownParameter(spelling.utf8) }
            guard let encoded, !encoded.isEmpty else {
                throw Problem(.parameterMalformed, subject: .parameter(name))
            }
            do throws(PercentEncoding.Failure) {
                values.append((name, try PercentEncoding.decode(encoded)))
            } catch {
                throw error.problem(.parameterMalformed, subject: .parameter(name))
            }
        }
        self.values = values
    }

    subscript(name: String) -> String? { values.first { $0.name == name }?.value }

    /// Returns the value of a parameter. Throws `parameter_missing`.
    func required(_ name: String) throws(Problem) -> String {
        guard let value = self[name] else { throw Problem(.parameterMissing, subject: .parameter(name)) }
        return value
    }

    /// Returns a decimal number within `bounds`. Throws `parameter_malformed` for other values.
    func number(_ name: String, in bounds: ClosedRange<Int64>, default fallback: Int64) throws(Problem)
        -> Int64
    {
        guard let text = self[name] else { return fallback }
        guard text.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }),
            let value = Int64(text), bounds.contains(value)
        else { throw Problem(.parameterMalformed, subject: .parameter(name)) }
        return value
    }
}

import AsyncHTTPClient
import Composition
import Encodings
import NIOCore
import NIOHTTP1
import StrictJSON

/// A browser without scripts, in which a person signs in at the fake Apple and agrees to every request.
final class ScriptedBrowser {
    private struct Response {
        let status: Int
        let location: String?
        let text: String
        let cookies: [String]
    }

    /// Maximum number of steps, more than a sign-in with consent needs.
    private static let mostSteps = 16
    /// Maximum page size in bytes.
    private static let longestPage = 1 << 20
    private static let timeout = TimeAmount.seconds(30)

    private let subject: String
    private let service: String
    private let apple: String
    private let google: String?
    /// Cookies that the service has set.
    private var cookies: [String: String] = [:]

    init(subject: String, service: String, apple: String, google: String?) {
        (self.subject, self.service, self.apple, self.google) = (subject, service, apple, google)
    }

    /// Opens a URL, follows redirects, and presses the buttons on the pages.
    ///
    /// - Returns: The last URL: a page of an app, or Google's redirect URI with the response.
    /// - Throws: `DevelopmentWorldError` if a page has no button to press.
    func follow(_ start: String) async throws -> String {
        var url = start
        var response = try await send(.GET, url)
        for _ in 0..<Self.mostSteps {
            if let location = response.location {
                url = location.hasPrefix("/") ? origin(of: url) + location : location
                guard belongsToFlow(url) else { return url }
                response = try await send(.GET, url)
                if isGoogle(url) { return url }
            } else if let form = PageForm(response.text, choosing: subject) {
                url = form.action.hasPrefix("/") ? origin(of: url) + form.action : form.action
                response = try await send(.POST, url, form.fields)
            } else {
                break
            }
        }
        throw DevelopmentWorldError(
            "The browser ended at \(url.prefix { $0 != "?" }) with status \(response.status).")
    }

    static func parameter(_ name: String, of url: String) -> String? {
        guard let mark = url.firstIndex(of: "?") else { return nil }
        return FormEncoding.decode(url[url.index(after: mark)...].utf8)?.first { $0.name == name }?.value
    }

    private func belongsToFlow(_ url: String) -> Bool {
        if isGoogle(url) || url.hasPrefix(service + "/") { return true }
        return url.hasPrefix("\(apple)/auth/")
    }

    private func isGoogle(_ url: String) -> Bool { google.map { url.hasPrefix($0 + "/") } ?? false }

    private func origin(of url: String) -> String {
        let scheme = url.hasPrefix("https://") ? 8 : 7
        return String(url.prefix(scheme)) + url.dropFirst(scheme).prefix { $0 != "/" && $0 != "?" }
    }

    private func send(
        _ method: HTTPMethod, _ url: String, _ form: [(name: String, value: String)] = []
    ) async throws -> Response {
        var request = HTTPClientRequest(url: url)
        request.method = method
        request.headers.add(name: "Accept", value: "text/html")
        request.headers.add(name: "Accept-Language", value: "en")
        if url.hasPrefix(service), !cookies.isEmpty {
            let pairs = cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
            request.headers.add(name: "Cookie", value: pairs)
        }
        if method == .POST {
            // Browsers send this header from siwa's pages, because those pages send no referrer.
            if url.hasPrefix(service) { request.headers.add(name: "Origin", value: "null") }
            request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
            request.body = .bytes(ByteBuffer(string: FormEncoding.encode(form)))
        }
        let complete = request
        let response: Response
        do {
            response = try await HTTPClient.withHTTPClient(configuration: Self.configuration) { client in
                let response = try await client.execute(complete, timeout: Self.timeout)
                let body = try await response.body.collect(upTo: Self.longestPage)
                return Response(
                    status: Int(response.status.code), location: response.headers.first(name: "Location"),
                    text: String(buffer: body), cookies: response.headers["Set-Cookie"])
            }
        } catch {
            throw DevelopmentWorldError("\(origin(of: url)) did not answer: \(error)")
        }
        if url.hasPrefix(service) { keep(response.cookies) }
        return response
    }

    private func keep(_ fields: [String]) {
        for field in fields {
            let pair = field.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
            guard let name = pair.first else { continue }
            cookies[String(name)] = pair.count == 2 && !field.contains("Max-Age=0") ? String(pair[1]) : nil
        }
    }

    private static var configuration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        return configuration
    }
}

/// A form on a page of siwa or the fake Apple.
struct PageForm {
    let action: String
    /// The fields, including the button that continues.
    let fields: [(name: String, value: String)]

    /// Reads the form on a page. Returns `nil` if no form has hidden fields.
    init?(_ html: String, choosing subject: String) {
        guard let action = html.firstMatch(of: #/<form[^>]*method="post"[^>]*action="([^"]*)"/#) else {
            return nil
        }
        var fields: [(name: String, value: String)] = []
        for match in html.matches(
            of: #/<input type="(hidden|checkbox)" name="([^"]*)" value="([^"]*)"( checked)?/#)
        {
            // The fake Apple's page repeats the hidden field in each of its forms, so one copy is enough.
            let name = String(match.2).htmlUnescaped
            guard match.1 == "hidden" || match.4 != nil, !fields.contains(where: { $0.name == name }) else {
                continue
            }
            fields.append((name, String(match.3).htmlUnescaped))
        }
        guard !fields.isEmpty else { return nil }
        self.action = String(action.1).htmlUnescaped
        if html.contains(#"name="choose""#) || html.contains(#"name="allow""#) {
            fields = fields.filter { $0.name == "page" } + [("allow", subject)]
        } else if html.contains(#"name="decision""#) {
            fields.append(("decision", "agree"))
        }
        self.fields = fields
    }
}

extension String {
    /// The text with HTML escapes decoded, as far as siwa and the fakes use them in pages.
    fileprivate var htmlUnescaped: String {
        guard contains("&") else { return self }
        return replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&quot;", with: "\"")
            .replacing("&#39;", with: "'").replacing("&amp;", with: "&")
    }
}

/// A backend's request to the service, over HTTP with an API key.
struct ServiceCall: Sendable {
    struct Response: Sendable {
        let status: Int
        let json: JSONValue?
        let requestID: String?

        var isFine: Bool { (200..<300).contains(status) }
    }

    /// Maximum response size in bytes.
    private static let longestResponse = 1 << 20
    private static let timeout = TimeAmount.seconds(30)

    let service: String
    let secret: String

    /// Posts a request. Throws `DevelopmentWorldError` if no response arrives.
    func post(_ path: String, _ body: some JSONMember) async throws -> Response {
        var request = HTTPClientRequest(url: service + path)
        request.method = .POST
        request.headers.add(name: "Authorization", value: "Bearer \(secret)")
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .bytes(ByteBuffer(bytes: body.json()))
        do {
            let response = try await HTTPClient.shared.execute(request, timeout: Self.timeout)
            let bytes = Array(buffer: try await response.body.collect(upTo: Self.longestResponse))
            return Response(
                status: Int(response.status.code), json: try? JSONValue(parsing: bytes),
                requestID: response.headers.first(name: "X-Request-ID"))
        } catch {
            throw DevelopmentWorldError("siwa did not answer: \(error)")
        }
    }
}

import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import StrictJSON
import TestSupport

/// A real browser without a window: Chromium, driven over the W3C WebDriver protocol.
struct Browser: Sendable {
    struct NotDriven: Error, CustomStringConvertible {
        let description: String
        /// The error code of the protocol (WebDriver §6.6), if the driver has sent the error.
        var code: String?

        /// True if the page of a found element has been replaced. When this happens during a call,
        /// ChromeDriver sends the browser's message with the code "unknown error".
        var isAboutAnOldPage: Bool {
            code == "stale element reference" || description.contains("does not belong to the document")
        }
    }

    let session: String

    /// Starts a browser with a separate profile, and stops it after `body`.
    static func with<Result: Sendable>(
        in directory: TemporaryDirectory, _ body: @Sendable (Browser) async throws -> Result
    ) async throws -> Result {
        let address = try await BrowserDriver.shared.value.address
        let browser = try await Browser(
            address: address, profile: "\(directory.path)/profile-\(UUID().uuidString)")
        do {
            let result = try await body(browser)
            try await browser.close()
            return result
        } catch {
            try? await browser.close()
            throw error
        }
    }

    private init(address: String, profile: String) async throws {
        // Chromium's own sandbox needs rights that a container does not have.
        let arguments = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-background-networking", "--user-data-dir=\(profile)",
        ]
        let options = JSONValue.object(
            JSONObject([("args", .array(arguments.map { .string($0) }))]))
        let logging = JSONValue.object(
            JSONObject([("browser", .string("ALL")), ("performance", .string("ALL"))]))
        let always = JSONValue.object(
            JSONObject([
                ("browserName", .string("chrome")), ("goog:chromeOptions", options),
                ("goog:loggingPrefs", logging),
            ]))
        let answer = try await Self.send(
            .POST, "\(address)/session",
            [("capabilities", .object(JSONObject([("alwaysMatch", always)])))])
        guard let id = answer["sessionId"]?.string else { throw NotDriven(description: "no session") }
        session = "\(address)/session/\(id)"
        // A click that leads to another page returns before that page is there.
        _ = try await Self.send(.POST, "\(session)/timeouts", [("implicit", .integer(20_000))])
    }

    func open(_ url: String) async throws {
        _ = try await Self.send(.POST, "\(session)/url", [("url", .string(url))])
    }

    /// URL of the current page.
    func url() async throws -> String {
        try await Self.send(.GET, "\(session)/url").string ?? ""
    }

    /// Visible text of the page.
    func text() async throws -> String {
        try await onElement("body") { try await Self.send(.GET, "\($0)/text").string ?? "" }
    }

    /// Console messages of the browser since the last call, for example refusals of a policy.
    func messages() async throws -> [String] {
        try await log("browser")
    }

    /// URLs of the documents that the browser has requested since the last call, including redirects, loaded
    /// or not.
    func departures() async throws -> [String] {
        try await log("performance").compactMap { text in
            let limits = JSONLimits(depth: 16, members: 256)
            let message = (try? JSONValue(parsing: Array(text.utf8), limits: limits))?["message"]
            guard message?["method"]?.string == "Network.requestWillBeSent" else { return nil }
            return message?["params"]?["documentURL"]?.string
        }
    }

    private func log(_ type: String) async throws -> [String] {
        let log = try await Self.send(.POST, "\(session)/se/log", [("type", .string(type))])
        return (log.array ?? []).compactMap { $0["message"]?.string }
    }

    func click(_ selector: String) async throws {
        _ = try await onElement(selector) { try await Self.send(.POST, "\($0)/click", []) }
    }

    func type(_ text: String, into selector: String) async throws {
        _ = try await onElement(selector) { field in
            _ = try await Self.send(.POST, "\(field)/clear", [])
            return try await Self.send(.POST, "\(field)/value", [("text", .string(text))])
        }
    }

    private func close() async throws {
        _ = try await Self.send(.DELETE, session)
    }

    /// Runs an action on the first element that a CSS selector finds. Finds it again when the page has just
    /// changed.
    func onElement<Value>(
        _ selector: String, by strategy: String = "css selector", _ body: (String) async throws -> Value
    ) async throws -> Value {
        for _ in 0..<20 {
            do {
                return try await body(element(selector, strategy))
            } catch let error as NotDriven where error.isAboutAnOldPage {
                continue
            }
        }
        return try await body(element(selector, strategy))
    }

    /// The first element that a selector finds.
    private func element(_ selector: String, _ strategy: String) async throws -> String {
        let found = try await Self.send(
            .POST, "\(session)/element", [("using", .string(strategy)), ("value", .string(selector))])
        // The name of the member is a constant of the protocol (WebDriver §11).
        guard let id = found["element-6066-11e4-a52e-4f735466cecf"]?.string else {
            throw NotDriven(description: "no \(selector)")
        }
        return "\(session)/element/\(id)"
    }

    /// Sends a command, and returns the member `value` of the response.
    static func send(
        _ method: HTTPMethod, _ url: String, _ members: [(String, JSONValue)]? = nil
    ) async throws -> JSONValue {
        var request = HTTPClientRequest(url: url)
        request.method = method
        if let members {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(JSONValue.object(JSONObject(members)).serialized())
        }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let body = Array((try await response.body.collect(upTo: 4 * 1024 * 1024)).readableBytesView)
        let answer = try JSONValue(parsing: body, limits: JSONLimits(depth: 16, members: 256))
        guard response.status == .ok else {
            throw NotDriven(
                description: String(decoding: body, as: UTF8.self), code: answer["value"]?["error"]?.string)
        }
        return answer["value"] ?? .null
    }
}

import Foundation
import NIOHTTP1
import StrictJSON
import Synchronization
import TestSupport
import Testing

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

    /// Browsers that no test uses at the moment. To start one takes two seconds of a processor.
    private static let idle = Mutex<[Browser]>([])

    /// Calls `body` with a browser that has no history, cookies and stored files.
    static func with<Result: Sendable>(
        _ body: @Sendable (Browser) async throws -> Result
    ) async throws -> Result {
        let browser = if let idle = idle.withLock({ $0.popLast() }) { idle } else { try await Browser() }
        do {
            let result = try await body(browser)
            try await browser.forget()
            idle.withLock { $0.append(browser) }
            return result
        } catch {
            try? await browser.close()
            throw error
        }
    }

    private init() async throws {
        let driver = try await BrowserDriver.shared.value
        // Chromium's own sandbox needs rights that a container does not have.
        let arguments = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-background-networking",
            "--user-data-dir=\(driver.directory)/profile-\(UUID().uuidString)",
        ]
        let answer = try await Self.send(
            .POST, "\(driver.address)/session",
            [
                (
                    "capabilities",
                    [
                        "alwaysMatch": [
                            "browserName": "chrome",
                            "goog:chromeOptions": ["args": .array(arguments.map { .string($0) })],
                            "goog:loggingPrefs": ["browser": "ALL", "performance": "ALL"],
                        ]
                    ]
                )
            ])
        guard let id = answer["sessionId"]?.string else { throw NotDriven(description: "no session") }
        session = "\(driver.address)/session/\(id)"
        // A click that leads to another page returns before that page is there.
        _ = try await Self.send(.POST, "\(session)/timeouts", [("implicit", .integer(20_000))])
    }

    func open(_ url: String) async throws {
        _ = try await Self.send(.POST, "\(session)/url", [("url", .string(url))])
    }

    /// URL of the current page.
    func url() async throws -> String { try await Self.send(.GET, "\(session)/url").string ?? "" }

    /// Visible text of the page.
    func text() async throws -> String {
        try await onElement("body") { try await Self.send(.GET, "\($0)/text").string ?? "" }
    }

    /// Console messages of the browser since the last call, for example refusals of a policy.
    func messages() async throws -> [String] { try await log("browser") }

    /// URLs of the documents that the browser has requested since the last call, including redirects, loaded
    /// or not.
    func departures() async throws -> [String] {
        try await log("performance").compactMap { text in
            let limits = JSONLimits(depth: 16, members: 256)
            let message = (try? JSONValue(parsing: Array(text.utf8), limits: limits))?["message"]
            guard message?["method"] == "Network.requestWillBeSent" else { return nil }
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

    private func close() async throws { _ = try await Self.send(.DELETE, session) }

    /// Leaves nothing for the next test. The new window has no settings, scripts or history of the old ones.
    private func forget() async throws {
        let old = try await Self.send(.GET, "\(session)/window/handles").array ?? []
        let new = try await Self.send(.POST, "\(session)/window/new", [("type", "tab")])["handle"] ?? .null
        for handle in old {
            _ = try await Self.send(.POST, "\(session)/window", [("handle", handle)])
            _ = try await Self.send(.DELETE, "\(session)/window")
        }
        _ = try await Self.send(.POST, "\(session)/window", [("handle", new)])
        for name in ["Page.bringToFront", "Network.clearBrowserCookies", "Network.clearBrowserCache"] {
            try await command(name, [])
        }
        for type in ["browser", "performance"] { _ = try await log(type) }
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
        let response = try await TestClient.send(method, url, json: members)
        guard response.status == 200 else {
            throw NotDriven(description: response.text, code: response["value"]?["error"]?.string)
        }
        return response["value"] ?? .null
    }
}

/// Commands of the browser for tests of the appearance of pages.
extension Browser {
    /// Presses the button or link with this text, or with an element that has this text.
    func press(_ label: String) async throws {
        let path =
            "//*[self::button or self::a or self::summary]"
            + "[normalize-space(.)=\"\(label)\" or .//*[normalize-space(.)=\"\(label)\"]]"
        _ = try await onElement(path, by: "xpath") { try await Self.send(.POST, "\($0)/click", []) }
    }

    /// Returns true if the page has this text.
    func shows(_ words: String) async throws -> Bool {
        try await text().replacing("\n", with: " ").contains(words)
    }

    /// Runs a script in the page; the policy of the page does not apply to it.
    func evaluate(_ script: String) async throws -> JSONValue {
        try await Self.send(
            .POST, "\(session)/execute/sync", [("script", .string(script)), ("args", .array([]))])
    }

    /// Sets the size of the window's content and the user's preferred colours.
    func show(width: Int64, height: Int64 = 800, isDark: Bool = false) async throws {
        try await command(
            "Emulation.setDeviceMetricsOverride",
            [
                ("width", .integer(width)), ("height", .integer(height)), ("deviceScaleFactor", .integer(1)),
                ("mobile", false),
            ])
        let scheme: JSONValue = ["name": "prefers-color-scheme", "value": isDark ? "dark" : "light"]
        try await command("Emulation.setEmulatedMedia", [("features", [scheme])])
    }

    /// Changes the `User-Agent` of later requests.
    func pretendToBe(_ userAgent: String) async throws {
        try await command("Network.setUserAgentOverride", [("userAgent", .string(userAgent))])
    }

    /// Presses the key for the next element, and returns the text or the name of the element that has the
    /// focus then.
    func tab() async throws -> String {
        try await press(key: "\u{E004}")
        let script = "let e = document.activeElement; return e.innerText || e.name || e.tagName"
        return try await evaluate(script).string ?? ""
    }

    /// - Parameter key: Code of a key in WebDriver (§17.4.2).
    func press(key: String) async throws {
        let key = ["keyDown", "keyUp"].map { type in
            ["type": .string(type), "value": .string(key)] as JSONValue
        }
        let source: JSONValue = ["type": "key", "id": "keyboard", "actions": .array(key)]
        _ = try await Self.send(.POST, "\(session)/actions", [("actions", [source])])
    }

    /// Finds content that users cannot read or reach: elements that are wider than the window, and text with
    /// a contrast below 4.5 (WCAG 2.2, success criteria 1.4.3 and 1.4.10).
    func lookFaults() async throws -> [String] {
        let script = """
            let faults = [];
            let root = document.documentElement;
            if (root.scrollWidth > innerWidth) faults.push('scrolls to ' + root.scrollWidth);
            let parts = c => c.match(/[\\d.]+/g).map(Number);
            let light = c => parts(c).slice(0, 3).map(v => v / 255)
                .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
                .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
            let ground = e => {
                for (; e; e = e.parentElement) {
                    let c = getComputedStyle(e).backgroundColor;
                    if ((parts(c)[3] ?? 1) > 0) return c;
                }
                return 'rgb(255, 255, 255)';
            };
            for (let e of document.body.querySelectorAll('*')) {
                let box = e.getBoundingClientRect();
                if (!box.width || !e.checkVisibility()) continue;
                if (box.left < -1 || box.right > innerWidth + 1) faults.push(e.tagName + ' is outside');
                let own = [...e.childNodes].some(n => n.nodeType == 3 && n.data.trim());
                if (!own) continue;
                let [a, b] = [light(getComputedStyle(e).color), light(ground(e))];
                let ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
                if (ratio < 4.5) faults.push(ratio.toFixed(1) + ' for ' + e.innerText.slice(0, 40));
            }
            return faults;
            """
        return try await evaluate(script).array?.compactMap(\.string) ?? ["no answer"]
    }

    /// Expects the page to fit phones and desktops, in light and dark.
    func expectLooks(_ page: String) async throws {
        for (width, isDark) in [(320, false), (375, true), (1280, false)] as [(Int64, Bool)] {
            try await show(width: width, isDark: isDark)
            #expect(try await lookFaults() == [], "\(page) at \(width)")
        }
    }

    /// Expects the element with the focus to be marked.
    func expectFocusMark(_ page: String = "") async throws {
        let outline = try await evaluate("return getComputedStyle(document.activeElement).outlineStyle")
        #expect(outline == "solid", "\(page)")
    }

    func press(each labels: [String]) async throws { for label in labels { try await press(label) } }

    /// Waits until the page shows these words.
    func wait(for words: String) async throws { try await eventually { try await shows(words) } }

    /// Requests that the browser refused because of a page's policy.
    func refusals() async throws -> [String] {
        try await messages().filter { $0.contains("Content Security Policy") || $0.contains("Refused") }
    }

    /// Sends a command of Chromium's own protocol.
    private func command(_ name: String, _ members: [(String, JSONValue)]) async throws {
        _ = try await Self.send(
            .POST, "\(session)/goog/cdp/execute",
            [("cmd", .string(name)), ("params", .object(JSONObject(members)))])
    }
}

/// Commands of the browser for tests of pages that have wide tables, and of what axe finds.
extension Browser {
    /// Finds content that users cannot read or reach, as `lookFaults` does. What is in a region that scrolls by
    /// itself may be wider than the window.
    func consoleFaults() async throws -> [String] {
        let script = """
            let faults = [];
            let root = document.documentElement;
            if (root.scrollWidth > innerWidth) faults.push('scrolls to ' + root.scrollWidth);
            for (let e of document.body.querySelectorAll('*')) {
                let box = e.getBoundingClientRect();
                if (!box.width || !e.checkVisibility() || e.closest('.scroll, pre, svg, iframe')) continue;
                if (box.left < -1 || box.right > innerWidth + 1) faults.push(e.outerHTML.slice(0, 80) + ' is outside');
            }
            return faults;
            """
        return try await evaluate(script).array?.compactMap(\.string) ?? ["no answer"]
    }

    /// The violations that axe finds: each rule with the first element. Needs `scripts/python-packages`.
    func axeViolations() async throws -> [String] {
        if try await evaluate("return !window.axe") == true {
            // Half a megabyte, which later pages have from the start.
            let source = try Self.axe.get()
            try await command("Page.addScriptToEvaluateOnNewDocument", [("source", .string(source))])
            _ = try await evaluate(source)
        }
        let script = """
            return axe.run(document, { resultTypes: ['violations'] }).then(found => found.violations.map(v =>
                v.id + ': ' + v.nodes[0].html.slice(0, 160) + ' ' + v.nodes[0].failureSummary.slice(0, 200)));
            """
        return try await evaluate(script).array?.compactMap(\.string) ?? ["no answer"]
    }

    private static let axe = Result<String, any Error> {
        let folder = ProjectFolder.root.appending(path: ".build-python/lib")
        let versions = try FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: nil)
        let files = versions.map { $0.appending(path: "site-packages/axe_core_python/axe.min.js") }
        guard let file = files.first(where: { FileManager.default.fileExists(atPath: $0.path) }) else {
            throw PythonTools.Missing(
                description: "there is no axe in .build-python; run scripts/python-packages")
        }
        return try String(contentsOf: file, encoding: .utf8)
    }

    /// Switches the scripts of pages off or on. The next page is the first without them.
    func switchScripts(on isOn: Bool) async throws {
        try await command("Emulation.setScriptExecutionDisabled", [("value", .bool(!isOn))])
    }

    /// Writes a picture of the window's content.
    func picture(to path: String) async throws {
        let text = try await Self.send(.GET, "\(session)/screenshot").string ?? ""
        try Data(base64Encoded: text)?.write(to: URL(fileURLWithPath: path))
    }
}

/// The `chromedriver` of this process, which starts a browser for each session. It ends with this process.
struct BrowserDriver: Sendable {
    /// Address for commands.
    let address: String
    /// For the profiles of browsers.
    let directory: String
    private let watchdog: Watchdog

    /// The driver of this process, started on first use.
    static let shared = Task { try await start() }

    /// Starts the driver, repeatedly if necessary. The driver takes a free port of IPv6 and then the same
    /// port of IPv4. It ends when the IPv4 port is in use, for example by a test with thousands of
    /// connections.
    private static func start() async throws -> BrowserDriver {
        for _ in 0..<20 {
            do {
                return try await startOnce()
            } catch let error as Browser.NotDriven where error.description.contains("port not available") {
                continue
            }
        }
        return try await startOnce()
    }

    private static func startOnce() async throws -> BrowserDriver {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
            "siwa-driver-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let watchdog = try Watchdog(
            """
            cd "$1"
            chromedriver --port=0 < /dev/null > log 2>&1 &
            cat > /dev/null
            kill -KILL $!
            pkill -KILL -f "$1/profile-"
            rm -rf "$1"
            """, [directory.path])
        let log = directory.appendingPathComponent("log")
        let mark = "started successfully on port "
        let end = ContinuousClock.now + .seconds(60)
        while true {
            let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
            if let range = text.firstRange(of: mark) {
                let digits = text[range.upperBound...].prefix { $0.isNumber }
                if let port = Int(digits), text[range.upperBound...].count > digits.count {
                    return BrowserDriver(
                        address: "http://127.0.0.1:\(port)", directory: directory.path, watchdog: watchdog)
                }
            }
            let hasEnded = ["port not available", "not found"].contains { text.contains($0) }
            guard !hasEnded, ContinuousClock.now < end else {
                watchdog.release()
                throw Browser.NotDriven(description: "chromedriver did not start: \(text)")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}

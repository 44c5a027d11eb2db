import NIOHTTP1
import StrictJSON

/// Commands of the browser for tests of the appearance of pages.
extension Browser {
    /// Presses the button or link with this text, or with an element that has this text.
    func press(_ label: String) async throws {
        let path =
            "//*[self::button or self::a or self::summary]"
            + "[normalize-space(.)=\"\(label)\" or .//*[normalize-space(.)=\"\(label)\"]]"
        _ = try await onElement(path, by: "xpath") { try await Self.send(.POST, "\($0)/click", []) }
    }

    /// Waits until the page has this text.
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
                ("mobile", .bool(false)),
            ])
        let scheme = JSONObject([
            ("name", .string("prefers-color-scheme")), ("value", .string(isDark ? "dark" : "light")),
        ])
        try await command("Emulation.setEmulatedMedia", [("features", .array([.object(scheme)]))])
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
            JSONValue.object(JSONObject([("type", .string(type)), ("value", .string(key))]))
        }
        let source = JSONObject([
            ("type", .string("key")), ("id", .string("keyboard")), ("actions", .array(key)),
        ])
        _ = try await Self.send(.POST, "\(session)/actions", [("actions", .array([.object(source)]))])
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

    /// Sends a command of Chromium's own protocol.
    private func command(_ name: String, _ members: [(String, JSONValue)]) async throws {
        _ = try await Self.send(
            .POST, "\(session)/goog/cdp/execute",
            [("cmd", .string(name)), ("params", .object(JSONObject(members)))])
    }
}

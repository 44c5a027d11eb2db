import Foundation
import NIOHTTP1
import StrictJSON

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
        let script =
            try Self.axe.get() + """
                ;
                return axe.run(document, { resultTypes: ['violations'] }).then(found => found.violations.map(v =>
                    v.id + ': ' + v.nodes[0].html.slice(0, 160) + ' ' + v.nodes[0].failureSummary.slice(0, 200)));
                """
        return try await evaluate(script).array?.compactMap(\.string) ?? ["no answer"]
    }

    private static let axe = Result<String, any Error> {
        let folder = PythonTools.root.appendingPathComponent(".build-python/lib")
        let versions = try FileManager.default.contentsOfDirectory(
            at: folder, includingPropertiesForKeys: nil)
        let files = versions.map { $0.appendingPathComponent("site-packages/axe_core_python/axe.min.js") }
        guard let file = files.first(where: { FileManager.default.fileExists(atPath: $0.path) }) else {
            throw PythonTools.Missing(
                description: "there is no axe in .build-python; run scripts/python-packages")
        }
        return try String(contentsOf: file, encoding: .utf8)
    }

    /// Switches the scripts of pages off or on. The next page is the first without them.
    func switchScripts(on isOn: Bool) async throws {
        _ = try await Self.send(
            .POST, "\(session)/goog/cdp/execute",
            [
                ("cmd", .string("Emulation.setScriptExecutionDisabled")),
                ("params", .object(JSONObject([("value", .bool(!isOn))]))),
            ])
    }

    /// Writes a picture of the window's content.
    func picture(to path: String) async throws {
        let text = try await Self.send(.GET, "\(session)/screenshot").string ?? ""
        try Data(base64Encoded: text)?.write(to: URL(fileURLWithPath: path))
    }
}

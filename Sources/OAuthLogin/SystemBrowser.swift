import Foundation

/// Opens a URL in the browser of the person (RFC 8252 §8.12: never in a view of the program itself).
///
/// `BROWSER` decides, if it is set: programs separated by colons, of which the first that can be started is
/// taken, with the URL in place of `%s` or after the other words. Otherwise it is the desktop's program.
package struct SystemBrowser: Sendable {
    let environment: [String: String]

    package init(environment: [String: String]) { self.environment = environment }

    /// Returns whether a program for it was started. It does not wait for that program.
    package func open(_ url: String) -> Bool {
        commands.contains { start($0, url) }
    }

    /// The programs in the order in which they are tried, each with its words.
    var commands: [[String]] {
        let named = (environment["BROWSER"] ?? "").split(separator: ":").map { entry in
            entry.split(separator: " ").map(String.init)
        }.filter { !$0.isEmpty }
        if !named.isEmpty { return named }
        #if os(macOS)
            return [["open"]]
        #else
            // Without a display it would start a browser in this terminal, or none.
            let hasDisplay = ["DISPLAY", "WAYLAND_DISPLAY"].contains { environment[$0] != nil }
            return hasDisplay ? [["xdg-open"]] : []
        #endif
    }

    /// The words with the URL. No shell reads them, so nothing in the URL is a command.
    static func arguments(_ words: ArraySlice<String>, for url: String) -> [String] {
        let filled = words.map { $0.replacingOccurrences(of: "%s", with: url) }
        return words.contains { $0.contains("%s") } ? filled : filled + [url]
    }

    private func start(_ words: [String], _ url: String) -> Bool {
        guard let path = program(words[0]) else { return false }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = Self.arguments(words.dropFirst(), for: url)
        (process.standardInput, process.standardOutput) = (FileHandle.nullDevice, FileHandle.nullDevice)
        process.standardError = FileHandle.nullDevice
        return (try? process.run()) != nil
    }

    private func program(_ name: String) -> String? {
        let candidates =
            name.contains("/")
            ? [name] : (environment["PATH"] ?? "").split(separator: ":").map { "\($0)/\(name)" }
        return candidates.first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}

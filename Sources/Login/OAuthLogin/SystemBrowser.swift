import Foundation

/// Opens a URL in the user's browser, never in a view of the program itself (RFC 8252 §8.12).
///
/// `BROWSER` takes precedence and lists programs separated by colons. The first program that starts receives
/// the URL, at the position of `%s` or as its last argument. Without `BROWSER`, the desktop's own program
/// opens the URL.
package struct SystemBrowser: Sendable {
    let environment: [String: String]

    package init(environment: [String: String]) { self.environment = environment }

    /// Returns true if a program was started. Does not wait for it to end.
    package func open(_ url: String) -> Bool {
        commands.contains { start($0, url) }
    }

    /// Commands in the order to try them, each with its arguments.
    var commands: [[String]] {
        let named = (environment["BROWSER"] ?? "").split(separator: ":").map { entry in
            entry.split(separator: " ").map(String.init)
        }.filter { !$0.isEmpty }
        if !named.isEmpty { return named }
        #if os(macOS)
            return [["open"]]
        #else
            // Without a display, `xdg-open` would start a browser in this terminal, or no browser at all.
            let hasDisplay = ["DISPLAY", "WAYLAND_DISPLAY"].contains { environment[$0] != nil }
            return hasDisplay ? [["xdg-open"]] : []
        #endif
    }

    /// Returns the arguments with the URL. No shell parses them, so a URL cannot contain a command.
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

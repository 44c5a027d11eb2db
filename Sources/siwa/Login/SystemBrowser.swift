import Foundation

/// Opens a URL in the browser of the person (RFC 8252 §8.12: never in a view of the program itself).
struct SystemBrowser: Sendable {
    let environment: [String: String]

    /// Returns whether a program for it was started. It does not wait for that program.
    func open(_ url: String) -> Bool {
        #if os(macOS)
            let name = "open"
        #else
            let name = "xdg-open"
            // Without a display it would start a browser in this terminal, or none.
            guard ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"].contains(where: { environment[$0] != nil }) else {
                return false
            }
        #endif
        let directories = (environment["PATH"] ?? "").split(separator: ":")
        let candidates = directories.map { "\($0)/\(name)" }
        guard let path = candidates.first(where: { FileManager.default.isExecutableFile(atPath: $0) }) else {
            return false
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = [url]
        (process.standardInput, process.standardOutput) = (FileHandle.nullDevice, FileHandle.nullDevice)
        process.standardError = FileHandle.nullDevice
        return (try? process.run()) != nil
    }
}

import Foundation
import TestSupport

/// Looks for forbidden text in the sources of a store.
package enum SourceCheck {
    /// The lines of code that match, as "File.swift:12: text". Comments do not count.
    ///
    /// - Parameters:
    ///   - target: A folder of `Sources/Stores`.
    ///   - exempt: Files that may have such text, because they implement the mechanism.
    package static func lines(
        in target: String, matching pattern: String, exempt: Set<String>
    ) throws -> [String] {
        let expression = try Regex(pattern)
        let folder = ProjectFolder.root.appending(components: "Sources", "Stores", target)
        let paths = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        let files = paths.filter { $0.hasSuffix(".swift") }
        try expect(files.count > 10, "the sources are in \(folder.path)")
        return try files.sorted().filter { !exempt.contains($0) }.flatMap { path in
            let text = try String(contentsOf: folder.appending(path: path), encoding: .utf8)
            return text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
                .filter { !$1.drop { $0 == " " }.hasPrefix("//") && $1.contains(expression) }
                .map { "\(path):\($0 + 1): \($1)" }
        }
    }
}

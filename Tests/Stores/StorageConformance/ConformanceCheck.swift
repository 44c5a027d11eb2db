import AppleAccounts
import Foundation
import TestSupport

/// A sentence that must be true of every store, with the code that checks it. Each check gets an empty store.
public struct ConformanceCheck: Sendable, CustomStringConvertible {
    public let name: String
    public let run: @Sendable (any ConformingStore) async throws -> Void

    init(_ name: String, run: @escaping @Sendable (any ConformingStore) async throws -> Void) {
        (self.name, self.run) = (name, run)
    }

    public var description: String { name }

    public static let all: [ConformanceCheck] =
        accountChecks + appleGrants + oauth + appCheckHours + appReceipts + receivers + streams + audit
        + inspection + serviceHours

    /// Checks for a store that was opened without sealing.
    public static let withoutSealing = unsealed

    private static let accountChecks: [ConformanceCheck] =
        accounts + profiles + credentials + deletions + notifications + nonces + appAttest + events
        + eventScope
        + batches + disabling + searches + histories

    /// Checks of Apple codes and Apple tokens.
    private static let appleGrants: [ConformanceCheck] =
        codes + exchanges + dailyChecks + backlog + erasures + erasureScope + erasureTokens + sealing
        + tickets
        + transfers + lengths + random

    /// Checks of the service's own codes and tokens as an authorization server.
    private static let oauth: [ConformanceCheck] =
        authorizing + redeeming + devices + deviceTable + exchanging + refreshing + revoking + credentialEnds
        + googleReports
        + suspending + google
        + keeping
        + oauthAtRandom
}

/// A difference between the behaviour of a store and a check.
public struct ConformanceFailure: Error, CustomStringConvertible {
    public let description: String
}

func expect(_ condition: Bool, _ claim: String, line: Int = #line, file: String = #fileID) throws {
    guard !condition else { return }
    throw ConformanceFailure(description: "\(file):\(line): not so: \(claim)")
}

func expectEqual<Value: Equatable>(
    _ found: Value, _ expected: Value, line: Int = #line, file: String = #fileID
) throws {
    guard found != expected else { return }
    throw ConformanceFailure(description: "\(file):\(line): found \(found), expected \(expected)")
}

func expectRefusal(
    _ code: AccountRefusal.Code, line: Int = #line, file: String = #fileID,
    _ action: () async throws -> some Any
) async throws {
    let refusal = try await thrown(AccountRefusal.self, "\(code)", line, file, action)
    try expectEqual(refusal.code, code, line: line, file: file)
}

/// Returns the error of an action that must throw one of this type.
func thrown<Failure: Error>(
    _ type: Failure.Type, _ expected: String, _ line: Int, _ file: String,
    _ action: () async throws -> some Any
) async throws -> Failure {
    do {
        let found = try await action()
        throw ConformanceFailure(
            description: "\(file):\(line): found \(found), expected \(expected) to be thrown")
    } catch let failure as Failure {
        return failure
    }
}

func unwrap<Value>(_ value: Value?, line: Int = #line, file: String = #fileID) throws -> Value {
    guard let value else { throw ConformanceFailure(description: "\(file):\(line): found nil") }
    return value
}

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

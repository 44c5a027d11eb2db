public import Foundation
public import TestSupport

/// The built `siwa`, for tests that start it as a process of its own.
///
/// `SIWA_BINARY` names the program. `.ci/run` sets it to the release build, which users run. The default is
/// the debug build beside the tests.
public enum BuiltSiwa {
    /// The environment variable that names another build.
    public static let variable = "SIWA_BINARY"

    public struct NotFound: Error, CustomStringConvertible { public let description: String }

    /// - Throws: `NotFound`, also when the variable names no program: a test of another build than the
    ///   requested build would prove nothing.
    public static func url() throws -> URL {
        if let path = ProcessInfo.processInfo.environment[variable], !path.isEmpty {
            let url = URL(fileURLWithPath: path)
            guard isProgram(url) else {
                throw NotFound(description: "\(variable) is \(path), which is no program; build it")
            }
            return url
        }
        return try neighbour(named: "siwa")
    }

    /// siwa, or the siwa-dev beside it, which is of the same build.
    public static func url(of program: String) throws -> URL {
        guard program != "siwa" else { return try url() }
        let url = try url().deletingLastPathComponent().appendingPathComponent(program)
        guard isProgram(url) else { throw NotFound(description: "\(url.path) is no program; build it") }
        return url
    }

    /// Runs a command of siwa to its end.
    ///
    /// - Parameter keepsOutput: True if the output has standard output too.
    public static func run(
        _ arguments: [String], _ environment: [String: String] = [:], in directory: TemporaryDirectory,
        keepsOutput: Bool = true
    ) async throws -> ProgramRun {
        try await ProgramRun.of(
            url(), arguments, environment: ["PATH": "/usr/bin:/bin"].merging(environment) { $1 },
            in: directory.path, keepsOutput: keepsOutput)
    }

    /// A program of the same build as the tests.
    public static func neighbour(named name: String) throws -> URL {
        let bundles = Bundle.allBundles.map(\.bundleURL).filter { $0.pathExtension == "xctest" }
        let neighbours = bundles + [Bundle.main.executableURL, Bundle.main.bundleURL].compactMap { $0 }
        for directory in neighbours.map({ $0.deletingLastPathComponent() }) + neighbours {
            let candidate = directory.appendingPathComponent(name)
            if isProgram(candidate) { return candidate }
        }
        throw NotFound(
            description: "there is no \(name) beside the tests; build it"
                + (name == "siwa" ? ", or set \(variable)" : ""))
    }

    private static func isProgram(_ url: URL) -> Bool {
        FileManager.default.isExecutableFile(atPath: url.path) && !url.hasDirectoryPath
    }
}

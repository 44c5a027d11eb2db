import Foundation
import SiwaBinary
import TestSupport
import Testing

/// The Python package of the fakes, its types, and the backends of docs/test-your-backend.md.
@Suite struct PythonPackageTests {
    /// With a release build the wheel in `dist` is tested, which scripts/test has made. The program of a debug
    /// build needs the toolchain, so it cannot be in a wheel.
    @Test(.timeLimit(.hung))
    func `the package and the examples of its page pass their tests`() async throws {
        let isRelease = ProcessInfo.processInfo.environment[BuiltSiwa.variable] != nil
        let program = isRelease ? [] : [try BuiltSiwa.url(of: "siwa-dev").path]
        let run = try await ProgramRun.of(
            ProjectFolder.root.appending(path: "scripts/test-wheel"), ["--package"] + program)
        #expect(run.status == 0, "\(run.output)")
        #expect(run.output.contains(/\d+ passed/) && !run.output.contains("skipped"), "\(run.output)")
    }
}

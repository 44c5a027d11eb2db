import Foundation
import TestSupport
import Testing

@testable import siwa

/// Compares the service with its OpenAPI document, with tools that know only the document.
@Suite struct OpenAPIConformanceTests {
    @Test func `the description is valid OpenAPI`() async throws {
        try await TemporaryDirectory.with { directory in
            let document = PythonTools.root.appendingPathComponent(
                "Sources/HTTP/HTTPAPI/OpenAPI/openapi.yaml"
            )
            .path
            let run = try await PythonTools.run("openapi-spec-validator", [document], in: directory)
            #expect(run.status == 0, "\(run.output)")
        }
    }

    /// All phases: the document's examples, the limits of every schema, random valid and invalid requests,
    /// and requests that use earlier responses. The fake Apple provides tokens, so that sign-ins succeed.
    @Test(.timeLimit(.hung))
    func `schemathesis finds no difference between the description and the service`() async throws {
        try await TemporaryDirectory.with { directory in
            let (port, applePort) = (try FreePort.find(), try FreePort.find())
            let service = "http://127.0.0.1:\(port)"
            let printed = URL(fileURLWithPath: "\(directory.path)/printed.txt")
            let process = try ServiceProcess.start(
                ["dev", "--port", "\(port)", "--emulator-port", "\(applePort)", "--log-level", "error"],
                ["PATH": "/usr/bin:/bin", "TMPDIR": directory.path], in: directory, output: printed)
            try await ServiceProcess.stopping(process) {
                // The commands are printed when both servers run.
                try await eventually {
                    try String(contentsOf: printed, encoding: .utf8).contains("Ctrl-C")
                }
                let settings = PythonTools.root.appendingPathComponent("Tests/siwa/Schemathesis")
                let run = try await PythonTools.run(
                    "schemathesis",
                    [
                        "--config-file", settings.appendingPathComponent("schemathesis.toml").path,
                        "run", "\(service)/openapi.yaml", "--phases", "examples,coverage,fuzzing,stateful",
                        "--header", "Authorization: Bearer \(DevelopmentSettings.secret)",
                    ],
                    [
                        "SCHEMATHESIS_HOOKS": settings.appendingPathComponent("hooks.py").path,
                        "SIWA_FAKE_APPLE": "http://127.0.0.1:\(applePort)",
                    ], in: directory)
                #expect(run.status == 0, "\(Self.failures(in: run.output))")
                // A run without tests would have no failures either.
                let counts = try #require(
                    run.output.firstMatch(of: /Selected: (\d+)\/(\d+)\s+Tested: (\d+)/)?.output)
                #expect(counts.1 == counts.2 && counts.1 == counts.3)
                #expect((Int(counts.1) ?? 0) >= 20)
            }
        }
    }

    /// The report begins with a page about what was loaded, and some readers of a failed test see its first lines only.
    private static func failures(in report: String) -> Substring {
        report.firstMatch(of: /=+ (ERRORS|FAILURES) =+/).map { report[$0.range.lowerBound...] } ?? report[...]
    }
}

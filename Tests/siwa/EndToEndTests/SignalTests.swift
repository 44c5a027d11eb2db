import Foundation
import TestSupport
import Testing

/// Effects of the signals of an operator and a service manager on a running service.
@Suite struct SignalTests {
    @Test func `SIGHUP, SIGUSR1 and SIGUSR2 are logged, and the service goes on`() async throws {
        try await TemporaryDirectory.with { directory in
            let service = try await ServiceProcess.serve(directory, try CrashTests.variables(directory))
            for (signal, name) in [(SIGHUP, "SIGHUP"), (SIGUSR1, "SIGUSR1"), (SIGUSR2, "SIGUSR2")] {
                // Repeatedly, because the service may not listen for signals yet. It ignores them then.
                try await eventually {
                    service.signal(signal)
                    return service.logText.contains("signal=\(name)")
                }
            }
            #expect(service.logText.contains("a signal was ignored: a restart reads the configuration again"))
            let backend = Backend(port: service.port, secret: CrashTests.secret)
            #expect(try await backend.get("/livez").status == 200)
            #expect(await service.stop() == 0)
        }
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func `a service that drains serves on, and says that it is not ready`(signal: Int32) async throws {
        try await TemporaryDirectory.with { directory in
            var variables = try CrashTests.variables(directory)
            variables["SIWA_DRAIN_SECONDS"] = "5"
            let service = try await ServiceProcess.serve(directory, variables)
            let backend = Backend(port: service.port, secret: CrashTests.secret)
            #expect(try await backend.get("/readyz").status == 200)
            service.signal(signal)
            try await eventually { try await backend.get("/readyz").code == "stopping" }
            #expect(try await backend.post("/v1/nonces").status == 201)
            #expect(try await backend.get("/livez").status == 200)
            #expect(await service.end() == 0)
            #expect(service.logText.contains("draining: requests are served"))
        }
    }

    @Test func `a service that cannot listen does not drain`() async throws {
        try await TemporaryDirectory.with { directory in
            let taken = try SilentServer()
            var variables = try CrashTests.variables(directory)
            variables["SIWA_DRAIN_SECONDS"] = "300"
            variables["SIWA_PORT"] = "\(taken.port)"
            await #expect(throws: ServiceProcess.EndedEarly.self) {
                try await ServiceProcess.serve(directory, variables)
            }
        }
    }

    @Test func `the service manager hears of readiness and of the shutdown`() async throws {
        try await TemporaryDirectory.with { directory in
            let path = directory.path(of: "notify")
            let socket = try NotifySocket(path)
            var variables = try CrashTests.variables(directory)
            variables["NOTIFY_SOCKET"] = path
            let service = try await ServiceProcess.serve(directory, variables)
            try await eventually { socket.next()?.hasPrefix("READY=1\n") == true }
            #expect(await service.stop() == 0)
            #expect(socket.next()?.hasPrefix("STOPPING=1\n") == true)
            #expect(socket.next() == nil)
        }
    }

    @Test func `the health check says whether the service is ready`() async throws {
        try await TemporaryDirectory.with { directory in
            var variables = try CrashTests.variables(directory)
            variables["SIWA_DRAIN_SECONDS"] = "60"
            let service = try await ServiceProcess.serve(directory, variables)
            let url = "http://127.0.0.1:\(service.port)"
            #expect(try await Self.health(["--url", url], in: directory) == 0)
            // Without --url it asks the service of the configuration.
            variables["SIWA_PORT"] = "\(service.port)"
            #expect(try await Self.health([], variables, in: directory) == 0)
            service.signal(SIGTERM)
            let backend = Backend(port: service.port, secret: CrashTests.secret)
            try await eventually { try await backend.get("/readyz").code == "stopping" }
            #expect(try await Self.health(["--url", url], in: directory) == 1)
            await service.kill()
            #expect(try await Self.health(["--url", url], in: directory) == 1)
        }
    }

    private static func health(
        _ arguments: [String], _ variables: [String: String] = [:], in directory: TemporaryDirectory
    ) async throws -> Int32 {
        let process = try ServiceProcess.start(["healthcheck"] + arguments, variables, in: directory)
        while process.isRunning { try await Task.sleep(for: .milliseconds(5)) }
        return process.terminationStatus
    }
}

import Foundation
import TestSupport

/// The `chromedriver` of this process, which starts a browser for each session. It ends with this process.
struct BrowserDriver: Sendable {
    /// Address for commands.
    let address: String
    private let watchdog: Watchdog

    /// The driver of this process, started on first use.
    static let shared = Task { try await start() }

    /// Starts the driver, repeatedly if necessary. The driver takes a free port of IPv6 and then the same
    /// port of IPv4. It ends when the IPv4 port is in use, for example by a test with thousands of
    /// connections.
    private static func start() async throws -> BrowserDriver {
        for _ in 0..<20 {
            do {
                return try await startOnce()
            } catch let error as Browser.NotDriven where error.description.contains("port not available") {
                continue
            }
        }
        return try await startOnce()
    }

    private static func startOnce() async throws -> BrowserDriver {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
            "siwa-driver-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let watchdog = try Watchdog(
            """
            cd "$1"
            chromedriver --port=0 < /dev/null > log 2>&1 &
            cat > /dev/null
            kill -KILL $!
            rm -rf "$1"
            """, [directory.path])
        let log = directory.appendingPathComponent("log")
        let mark = "started successfully on port "
        let end = ContinuousClock.now + .seconds(60)
        while true {
            let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
            if let range = text.firstRange(of: mark) {
                let digits = text[range.upperBound...].prefix { $0.isNumber }
                if let port = Int(digits), text[range.upperBound...].count > digits.count {
                    return BrowserDriver(address: "http://127.0.0.1:\(port)", watchdog: watchdog)
                }
            }
            let hasEnded = ["port not available", "not found"].contains { text.contains($0) }
            guard !hasEnded, ContinuousClock.now < end else {
                watchdog.release()
                throw Browser.NotDriven(description: "chromedriver did not start: \(text)")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}

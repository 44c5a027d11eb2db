import ArgumentParser
import AsyncHTTPClient
import Composition
import Encodings
import Foundation
import HTTPAPI
import NIOCore
import NIOHTTP1
import OutgoingHTTP
import StrictJSON

/// The `siwa healthcheck` command.
struct Healthcheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Ask a running service whether it is ready, for the health check of a container.",
        discussion: """
            Sends GET /readyz to the service of the same configuration on this machine, or to --url. The exit \
            status is 0 when the answer is 200, otherwise 1. Warnings of a service that is ready are printed.
            """)

    @Option(help: "The service, for example http://127.0.0.1:8080.")
    var url: String?

    @Option(help: "How many seconds to wait for the answer.")
    var timeout = 2

    func validate() throws {
        guard (1...60).contains(timeout) else {
            throw ValidationError("--timeout must be 1 to 60 seconds.")
        }
    }

    func run() async throws {
        do {
            let base = try await address()
            let response = try await HTTPClient.withHTTPClient(configuration: Self.client) { client in
                let response = try await client.execute(
                    HTTPClientRequest(url: "\(base)/readyz"), timeout: .seconds(Int64(timeout)))
                let body = try await response.body.collect(upTo: Self.largestBody)
                return (status: response.status.code, words: Self.words(in: Array(buffer: body)))
            }
            guard response.status == 200 else {
                throw NotReady(text: "\(base)/readyz answers \(response.status) \(response.words)")
            }
            print(response.words.isEmpty ? "ready" : "ready, with warnings: \(response.words)")
        } catch let error as NotReady {
            try Self.fail(error.text)
        } catch let mistakes as ConfigurationMistakes {
            ErrorMessage.write(mistakes.description)
            ServiceVariables.writeAdvice()
            throw ExitCode.failure
        } catch {
            try Self.fail("no answer: \(error)")
        }
    }

    /// Returns the URL at which this machine reaches a service that listens on `host`.
    ///
    /// - Returns: `nil` for port 0, because the system chooses the port.
    static func address(host: String, port: Int) -> String? {
        guard port != 0 else { return nil }
        // Clients cannot connect to wildcard addresses, so they are replaced with the loopback address.
        let host =
            switch host {
            case "0.0.0.0": "127.0.0.1"
            case "::": "::1"
            default: host
            }
        return host.contains(":") ? "http://[\(host)]:\(port)" : "http://\(host):\(port)"
    }

    private struct NotReady: Error {
        let text: String
    }

    private static let largestBody = 16 * 1024

    /// The HTTP client's configuration. The client follows no redirects: `/readyz` never redirects, so a
    /// redirect is treated as the response.
    static let client: HTTPClient.Configuration = {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.boundResponses()
        return configuration
    }()

    private func address() async throws -> String {
        if let url { return url.hasSuffix("/") ? String(url.dropLast()) : url }
        let settings = try await SettingsReader.read(environment: ProcessInfo.processInfo.environment)
        guard let address = Self.address(host: settings.host, port: settings.numbers[.port]) else {
            throw NotReady(text: "SIWA_PORT is 0, so the port is not known; name the service with --url")
        }
        return address
    }

    /// Returns the code and cause of a problem, or a ready service's warnings; empty if there are no
    /// warnings.
    static func words(in body: [UInt8]) -> String {
        let json = try? JSONValue(parsing: body)
        let words = [json?["code"], json?["cause"]].compactMap { $0?.string }
        let warnings = (json?["warnings"]?.array ?? []).compactMap(\.string).map { warning in
            // The usual cause of the first warning is a database older than a key rotation.
            switch ServiceWarnings.Warning(rawValue: warning) {
            case .sealingKeysWrong:
                "\(warning) (stored tokens do not open: SIWA_SEALING_KEYS lacks the key that sealed them)"
            case .clockWrong, .trustedProxiesMissing, nil: warning
            }
        }
        return words.isEmpty
            ? warnings.joined(separator: ", ").forTerminal()
            : words.joined(separator: ", ").forTerminal(limit: 128)
    }

    private static func fail(_ text: String) throws -> Never {
        ErrorMessage.write(text)
        throw ExitCode.failure
    }
}

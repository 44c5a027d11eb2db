import AsyncHTTPClient
import Encodings
import Foundation
import HTTPAPI
import NIOCore
import NIOHTTP1
import TestSupport

/// An operator at the console of a service in production, on its own port.
final class ConsoleOperator: Sendable {
    static let secret = "siwa_console_operator"

    let root: String
    /// Settings of a service with this console.
    let variables: [String: String]

    struct Page {
        let status: HTTPResponseStatus
        let text: String

        /// The kinds of what is wrong, the most urgent first.
        var troubles: [String] { text.matches(of: /data-trouble="(\w+)"/).map { String($0.1) } }
    }

    /// - Parameter yaml: The rest of the service's configuration file.
    init(in directory: TemporaryDirectory, with yaml: String = "") throws {
        let port = try FreePort.find()
        root = "http://127.0.0.1:\(port)"
        let keys = """
            api_keys:
              - name: olga
                hash: \(Hexadecimal.encode(APIKeySecret.hash(Self.secret)))
                roles: [operator]

            """
        variables = [
            "SIWA_CONSOLE_PORT": "\(port)",
            "SIWA_CONFIG": try directory.write(keys + yaml, to: "console.yaml"),
        ]
    }

    /// Signs in, and opens the overview. Without a session the result is the page that the sign-in gets.
    func overview() async throws -> Page {
        let (signedIn, cookie) = try await send(.POST, "/console/sign-in", form: [("key", Self.secret)])
        guard let cookie else { return signedIn }
        return try await send(.GET, "/console/overview", cookie: cookie).page
    }

    private func send(
        _ method: HTTPMethod, _ path: String, form: [(String, String)]? = nil, cookie: String? = nil
    ) async throws -> (page: Page, cookie: String?) {
        var request = HTTPClientRequest(url: root + path)
        request.method = method
        if let cookie { request.headers.add(name: "Cookie", value: cookie) }
        if let form {
            request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
            request.body = .bytes(ByteBuffer(string: FormEncoding.encode(form)))
        }
        let response = try await Self.client.execute(request, timeout: .seconds(60))
        let text = String(buffer: try await response.body.collect(upTo: 4 << 20))
        let session = response.headers.first(name: "Set-Cookie").map { String($0.prefix { $0 != ";" }) }
        return (Page(status: response.status, text: text), session)
    }

    /// Follows no redirect.
    private static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()
}

package import AsyncHTTPClient
import Encodings
import NIOCore
import NIOHTTP1
import OutgoingHTTP

/// Sends requests to the authorization server, with limits on time and size. Follows no redirects, because a
/// redirect would send a code, a token or the client secret to another server.
package struct LoginTransport: Sendable {
    /// Maximum size of a body in bytes. Metadata and key sets from large servers have about 10,000 bytes.
    static let longestBody = 262_144

    let client: HTTPClient
    let limit: Duration

    /// - Parameter limit: Time limit for a request including its whole response.
    package init(client: HTTPClient, limit: Duration = .seconds(20)) {
        (self.client, self.limit) = (client, limit)
    }

    package static var configuration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: .init(connect: .seconds(10), read: .seconds(10), write: .seconds(10)),
            decompression: .disabled)
        // The user is waiting, so the client reports a refused connection immediately.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.boundResponses()
        return configuration
    }

    func get(_ url: String) async throws(LoginError) -> LoginResponse {
        try await send(HTTPClientRequest(url: url))
    }

    func post(_ form: FormRequest) async throws(LoginError) -> LoginResponse {
        var request = HTTPClientRequest(url: form.url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
        if let authorization = form.authorization {
            request.headers.add(name: "Authorization", value: authorization)
        }
        request.body = .bytes(ByteBuffer(string: form.body))
        return try await send(request)
    }

    private func send(_ request: HTTPClientRequest) async throws(LoginError) -> LoginResponse {
        var complete = request
        complete.headers.add(name: "Accept", value: "application/json")
        complete.headers.add(name: "User-Agent", value: "siwa-login")
        let sent = complete
        do {
            return try await bounded {
                let response = try await client.execute(sent, timeout: TimeAmount(limit))
                let body = try await response.body.collect(upTo: Self.longestBody)
                // In a cancelled task, reading a body ends early but throws no error, so this call throws.
                try Task.checkCancellation()
                return LoginResponse(status: Int(response.status.code), body: Array(buffer: body))
            }
        } catch {
            throw LoginError(.serverUnreachable, "\(Self.place(request.url)) \(Self.words(for: error))")
        }
    }

    /// Applies the time limit to the whole response, because the client's deadline covers only the head.
    private func bounded(
        _ body: @escaping @Sendable () async throws -> LoginResponse
    ) async throws -> LoginResponse {
        try await withThrowingTaskGroup(of: LoginResponse.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(for: limit)
                throw HTTPClientError.deadlineExceeded
            }
            defer { group.cancelAll() }
            guard let response = try await group.next() else { throw CancellationError() }
            return response
        }
    }

    /// Returns the URL without its query, for messages.
    private static func place(_ url: String) -> String { String(url.prefix { $0 != "?" }).forTerminal() }

    private static func words(for error: any Error) -> String {
        switch error {
        case is NIOTooManyBytesError: "sends more than \(longestBody) bytes, which is not accepted"
        case let error as UnboundedResponse: "sends \(error), which is not accepted"
        case let error as HTTPClientError
        where [.readTimeout, .connectTimeout, .deadlineExceeded, .writeTimeout].contains(error):
            "does not answer in time; try again later"
        default: "cannot be reached; check the address and the network"
        }
    }
}

/// A response as received.
struct LoginResponse: Sendable {
    let status: Int
    let body: [UInt8]
}

/// The client ID, and the secret for authenticating to the server.
package struct ClientCredentials: Sendable {
    let id: String
    /// The client secret, which Google's desktop clients have. It protects nothing on a user's machine.
    let secret: String?

    /// Throws `.optionMalformed` unless both values are visible ASCII of at most 1024 characters (RFC 6749
    /// §A.1, §A.2).
    package init(id: String, secret: String? = nil) throws(LoginError) {
        guard Self.isWord(id) else {
            throw LoginError(.optionMalformed, "--client-id must be 1 to 1024 visible ASCII characters")
        }
        if let secret, !Self.isWord(secret) {
            throw LoginError(
                .optionMalformed,
                "--client-secret-file must have the secret alone, 1 to 1024 visible ASCII characters")
        }
        (self.id, self.secret) = (id, secret)
    }

    /// Adds the client credentials to a request. Sends the secret in the body if the server allows it, as
    /// Google's clients do, otherwise in the header (RFC 6749 §2.3.1), but never in both.
    func authenticate(_ fields: [(name: String, value: String)], at url: String, of server: ServerMetadata)
        -> FormRequest
    {
        guard let secret else {
            return FormRequest(url: url, fields: fields + [("client_id", id)])
        }
        // If the metadata lists no methods, the header is the default (RFC 8414 §2).
        guard server.authenticationMethods?.contains("client_secret_post") == true else {
            let pair = "\(FormEncoding.escape(id)):\(FormEncoding.escape(secret))"
            return FormRequest(
                url: url, fields: fields, authorization: "Basic \(Base64.encode(Array(pair.utf8)))")
        }
        return FormRequest(url: url, fields: fields + [("client_id", id), ("client_secret", secret)])
    }

    private static func isWord(_ text: String) -> Bool {
        (1...1024).contains(text.utf8.count)
            && text.utf8.allSatisfy { (UInt8(ascii: "!")...UInt8(ascii: "~")).contains($0) }
    }
}

extension ClientCredentials: CustomStringConvertible, CustomReflectable {
    package var description: String { "client \(id)" }
    /// Mirror with only the ID, so that dumping or interpolating an enclosing type never shows the secret.
    package var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}

/// A form to post to one of the server's endpoints.
struct FormRequest {
    let url: String
    let fields: [(name: String, value: String)]
    var authorization: String?

    var body: String { FormEncoding.encode(fields) }
}

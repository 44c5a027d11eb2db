import AsyncHTTPClient
import Encodings
import NIOCore
import NIOHTTP1
import StrictJSON

/// A client for Google's RISC API, which registers the receiver of security events.
///
/// Each call has a time limit. The client does not retry calls, because the operator can repeat the command.
package struct EventStreamClient: Sendable {
    /// Maximum size of a response in bytes.
    static let longestResponse = 65_536

    /// The HTTP client. It must not follow redirects, because only Google may receive the token.
    let client: HTTPClient
    let endpoints: GoogleEndpoints
    package let key: ServiceAccountKey
    var timeLimit = TimeAmount.seconds(20)
    let secondsSince1970: @Sendable () -> Int64

    /// Returns the registered stream; `nil` if no stream is registered.
    package func stream() async throws(EventStreamError) -> EventStream? {
        do throws(EventStreamError) {
            let json = try await call(.GET, "stream", nil)
            guard let stream = EventStream(json) else {
                throw EventStreamError(
                    .responseMalformed, "Google's description of the stream has no URL; is a proxy between?")
            }
            return stream
        } catch {
            guard error.code == .streamMissing else { throw error }
            return nil
        }
    }

    package func status() async throws(EventStreamError) -> EventStream.Status {
        guard let word = try await call(.GET, "stream/status", nil)["status"]?.string else {
            throw EventStreamError(.responseMalformed, "Google's response has no status; is a proxy between?")
        }
        return EventStream.Status(word)
    }

    /// Registers a stream, or replaces the registered stream.
    package func update(_ stream: EventStream) async throws(EventStreamError) {
        _ = try await call(.POST, "stream:update", stream.json)
    }

    package func setStatus(isEnabled: Bool) async throws(EventStreamError) {
        let word = isEnabled ? EventStream.Status.enabled.word : EventStream.Status.disabled.word
        _ = try await call(.POST, "stream/status:update", JSONObject([("status", .string(word))]))
    }

    /// Requests a test event that contains this state.
    package func verify(_ state: String) async throws(EventStreamError) {
        _ = try await call(.POST, "stream:verify", JSONObject([("state", .string(state))]))
    }

    private func call(
        _ method: HTTPMethod, _ path: String, _ body: JSONObject?
    ) async throws(EventStreamError) -> JSONValue {
        var request = HTTPClientRequest(url: "\(endpoints.riscAPI)/\(path)")
        request.method = method
        let token = try key.token(at: secondsSince1970())
        request.headers.add(name: "Authorization", value: "Bearer \(token)")
        request.headers.add(name: "Accept", value: "application/json")
        request.headers.add(name: "User-Agent", value: "siwa")
        if let body {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: JSONValue.object(body).serialized()))
        }
        let (status, received) = try await send(request, path)
        guard status == 200 || status == 204 else {
            throw EventStreamError(status: status, body: received, call: path, account: key.email)
        }
        // The response to an update is empty.
        guard !received.isEmpty else { return .object(JSONObject()) }
        guard let json = try? JSONValue(parsing: received), json.object != nil else {
            throw EventStreamError(
                .responseMalformed, "Google's response to \(path) is not a JSON object; is a proxy between?")
        }
        return json
    }

    private func send(
        _ request: HTTPClientRequest, _ path: String
    ) async throws(EventStreamError) -> (status: Int, body: [UInt8]) {
        do {
            let response = try await client.execute(request, timeout: timeLimit)
            let body = try await response.body.collect(upTo: Self.longestResponse)
            return (Int(response.status.code), Array(buffer: body))
        } catch is NIOTooManyBytesError {
            throw EventStreamError(
                .responseMalformed,
                "Google's response to \(path) has more than \(Self.longestResponse) bytes; is a proxy "
                    + "between?")
        } catch {
            throw EventStreamError(
                .unreachable,
                "\(endpoints.riscAPI) does not answer \(path); allow https connections from this machine to "
                    + "it, and try again. The call may have been carried out.")
        }
    }
}

/// An error from calling Google's RISC API, or from preparing a call.
///
/// The text names the fault and the remedy. It never contains any part of a key or a token.
package struct EventStreamError: CodedError {
    package enum Code: String, Sendable, CaseIterable {
        /// The service account's key file cannot be read.
        case keyUnreadable
        /// The file is not a service account's key file.
        case keyMalformed
        /// The command would send a Google key's token to another server.
        case keyMisdirected
        case urlRefused
        /// No response arrived within the time limit.
        case unreachable
        /// The response is too long, or does not match Google's documentation.
        case responseMalformed
        /// Google responded with status 400.
        case requestRefused
        /// Google responded with status 401.
        case notAuthenticated
        /// Google responded with status 403 and the message that the API is not enabled.
        case apiDisabled
        /// Google responded with status 403.
        case forbidden
        /// Google responded with status 404.
        case streamMissing
        /// Google responded with status 429.
        case throttled
        /// Google responded with status 5xx, or any status not listed above.
        case failed
        /// The test event did not arrive within the time limit.
        case verificationMissing
    }

    let code: Code
    package let description: String

    package init(_ code: Code, _ description: String) {
        (self.code, self.description) = (code, description)
    }
}

extension EventStreamError {
    /// Creates the error for an error response from Google's API (`google.rpc.Status`).
    ///
    /// - Parameter call: The call's name, for the error text.
    init(status: Int, body: [UInt8], call: String, account: String) {
        let error = (try? JSONValue(parsing: body))?["error"]
        let message = error?["message"]?.string.map { ": \($0.forTerminal(limit: 300))" } ?? ""
        let reasons = error?["details"]?.array?.compactMap { $0["reason"]?.string } ?? []
        let text = "Google answers \(call) with \(status)\(message)"
        switch status {
        case 400:
            self.init(
                .requestRefused,
                """
                \(text)
                The URL must be https, on an authorized domain of the project: add the domain in Google's console \
                (Google Auth Platform, Branding, Authorized domains).
                """)
        case 401:
            self.init(
                .notAuthenticated,
                """
                \(text)
                Check that the key of \(account) still exists (IAM & Admin, Service Accounts, Keys), that the file \
                belongs to it, and that the clock of this machine is right.
                """)
        case 403 where reasons.contains("SERVICE_DISABLED"):
            self.init(
                .apiDisabled,
                """
                \(text)
                Enable the RISC API in the project (APIs & Services, Library), and try again some minutes later.
                """)
        case 403:
            self.init(
                .forbidden,
                """
                \(text)
                Give \(account) the role RISC Configuration Admin (roles/riscconfigs.admin) in the project of \
                google_client_ids, and enable the RISC API there.
                """)
        case 404:
            self.init(
                .streamMissing,
                "\(text)\nNothing is registered for this project: run siwa google risc register.")
        case 429:
            self.init(.throttled, "\(text)\nGoogle has received too many calls: try again in some minutes.")
        default:
            self.init(.failed, "\(text)\nNothing is known about the result: try again.")
        }
    }
}
